# SPDX-License-Identifier: Apache-2.0
"""Softmax of scores that come tile by tile, and the means that it is taken for: what attention makes of products.

A lane has parts of two rows, as of the sums of a product: two registers of one, then two of the other,
and so on. Four lanes side by side have the rest of both.
"""

import kernpack as kp

LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453


class OnlineSoftmax:
    """Of a lane's two rows the largest score so far, and its part of the sum of weights. `kp.online_softmax` makes one."""

    def __init__(self, scale):
        self.scale = scale
        self.binary = scale * LOG2_E
        self.most = kp.make_rmem_tensor(2, kp.float32)
        self.total = kp.make_rmem_tensor(2, kp.float32)
        self.shrink = kp.make_rmem_tensor(2, kp.float32)
        self.most.fill(-kp.float32.inf)
        self.total.fill(0.0)

    def weigh(self, scores, seen=None):
        """Makes weights of the scores of further columns, in place: e to the power of what a score times `scale` is below that of the largest so far. Where some have no weight, `seen` says for both rows which have: (first, end), counted from the first of these columns, where `first` may be None."""
        for half in kp.range_constexpr(2):
            if seen is not None:
                self.mask(scores, half, seen[half])
            high = self.most[half]
            for i in kp.range_constexpr(kp.size(scores) // 4):
                pair = 4 * i + 2 * half
                high = kp.max(high, kp.max(scores[pair], scores[pair + 1]))
            high = kp.warp_reduction_max(high, threads_in_group=4)
            base = high * self.binary
            if seen is not None:
                # Who has seen no column yet has no weights.
                base = base if high != -kp.float32.inf else kp.float32(0)
            self.shrink[half] = kp.fast_exp2(kp.fma(self.most[half], self.binary, -base))
            self.most[half] = high
            part = kp.float32(0)
            for i in kp.range_constexpr(kp.size(scores) // 4):
                for e in kp.range_constexpr(2):
                    at = 4 * i + 2 * half + e
                    scores[at] = kp.fast_exp2(kp.fma(scores[at], self.binary, -base))
                    part += scores[at]
            self.total[half] = kp.fma(self.total[half], self.shrink[half], part)

    def mask(self, scores, half, seen):
        first, end = seen
        column = kp.lane_idx() % 4 * 2
        for i in kp.range_constexpr(kp.size(scores) // 4):
            for e in kp.range_constexpr(2):
                at, own = 4 * i + 2 * half + e, 8 * i + e
                is_seen = own < end - column and (first is None or own >= first - column)
                score = scores[at]
                scores[at] = score if is_seen else -kp.float32.inf

    def rescale(self, sums):
        """Makes sums that were weighed before the last `weigh` comparable with what it has weighed."""
        for i in kp.range_constexpr(kp.size(sums)):
            sums[i] = sums[i] * self.shrink[i // 2 % 2]

    def finish(self, sums):
        """Makes means of sums, 0 of a row without weights, and gives the logarithms of what both rows were divided by: two registers."""
        logarithms = kp.make_rmem_tensor(2, kp.float32)
        for half in kp.range_constexpr(2):
            total = kp.warp_reduction_sum(self.total[half], threads_in_group=4)
            by = kp.fast_rcp(total)
            for i in kp.range_constexpr(kp.size(sums) // 4):
                for e in kp.range_constexpr(2):
                    at = 4 * i + 2 * half + e
                    sums[at] = sums[at] * by if total != 0 else kp.float32(0)
            logarithms[half] = self.most[half] * self.scale + kp.log2(total) * LN_2
        return logarithms


def online_softmax(scale):
    """An `OnlineSoftmax` of scores that are multiplied by `scale`, which is positive."""
    return OnlineSoftmax(scale)
