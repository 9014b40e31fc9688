# SPDX-License-Identifier: Apache-2.0
"""Pipelines: rings of stages in shared memory, which some threads fill and others use.

A stage has two mbarriers: `full` completes a phase when all producers have arrived, and `empty` when all
consumers have. What a phase is for is counted by who waits for it: a `PipelineState` is the stage that
comes next and the parity of the phase that it is waited for in.
"""

import kernpack as kp


class PipelineUserType:
    """Who counts the stages of a pipeline: whoever fills them, or whoever uses them."""

    Producer = "producer"
    Consumer = "consumer"


class PipelineState:
    """The stage of a pipeline that comes next: `index`, and the parity `phase` that it is waited for in. `count` is how many came before it."""

    stages: kp.Constexpr

    def __init__(self, stages, count, index, phase):
        self.stages = stages
        self.count = kp.int32(count)
        self.index = kp.int32(index)
        self.phase = kp.int32(phase)

    def advance(self):
        """Goes on to the next stage."""
        self.count += 1
        self.index += 1
        if self.index == self.stages:
            self.index = kp.int32(0)
            self.phase ^= 1

    def clone(self):
        """A state of its own, which is at the same stage."""
        return PipelineState(self.stages, self.count, self.index, self.phase)


def make_pipeline_state(user, stages):
    """The state that a `kp.PipelineUserType.Producer` or `kp.PipelineUserType.Consumer` of so many stages begins with. All stages are empty then: a producer does not wait for the first of each."""
    kp.static_assert(
        user == PipelineUserType.Producer or user == PipelineUserType.Consumer,
        "`user` is `kp.PipelineUserType.Producer` or `kp.PipelineUserType.Consumer`",
    )
    return PipelineState(stages, 0, 0, 1 if user == PipelineUserType.Producer else 0)


def elect_one():
    """Whether this is the one thread of its warp that does what one of them has to."""
    return kp.lane_idx() == 0


class PipelineAsync:
    """A pipeline whose stages threads fill by stores. `kp.PipelineAsync.create` makes one."""

    num_stages: kp.Constexpr

    def __init__(self, num_stages, full, empty):
        self.num_stages = num_stages
        self.full = full
        self.empty = empty

    @staticmethod
    def create(num_stages, producers, consumers):
        """Makes a pipeline of so many stages, each of which as many threads fill and use as is said. All threads of the block do it, as it ends with a barrier of theirs."""
        full = kp.mbarrier(num_stages)
        empty = kp.mbarrier(num_stages)
        x, y, z = kp.thread_idx()
        if x == 0 and y == 0 and z == 0:
            for stage in kp.range_constexpr(num_stages):
                full[stage].init(producers)
                empty[stage].init(consumers)
        kp.sync_threads()
        return PipelineAsync(num_stages, full, empty)

    # What `kp.copy(…, to=stage)` belongs to.
    def filled_by(self, state):
        return None

    def producer_acquire(self, state):
        """Waits until the consumers have released the stage."""
        self.empty[state.index].wait(state.phase)

    def producer_commit(self, state):
        """Says that this thread has filled its part of the stage."""
        self.full[state.index].arrive()

    def producer_tail(self, state):
        """Waits until the consumers have released all stages."""
        for _ in kp.range_constexpr(self.num_stages):
            self.producer_acquire(state)
            state.advance()

    def consumer_wait(self, state):
        """Waits until the producers have filled the stage."""
        self.full[state.index].wait(state.phase)

    def consumer_release(self, state):
        """Says that this thread is done with the stage."""
        self.empty[state.index].arrive()

    def make_participants(self):
        """A `PipelineProducer` and a `PipelineConsumer`, which count the stages themselves."""
        return PipelineProducer(self), PipelineConsumer(self)


class PipelineCpAsync:
    """A pipeline whose stages threads fill by copies `to=kp.async_group`, which arrive by themselves. `kp.PipelineCpAsync.create` makes one."""

    num_stages: kp.Constexpr

    def __init__(self, pipeline):
        self.num_stages = pipeline.num_stages
        self.pipeline = pipeline

    @staticmethod
    def create(num_stages, producers, consumers):
        """As `kp.PipelineAsync.create`."""
        return PipelineCpAsync(PipelineAsync.create(num_stages, producers, consumers))

    # What `kp.copy(…, to=stage)` belongs to.
    def filled_by(self, state):
        return kp.async_group

    def producer_acquire(self, state):
        """Waits until the consumers have released the stage."""
        self.pipeline.producer_acquire(state)

    def producer_commit(self, state):
        """Says that the stage is filled when the copies are done that this thread has begun."""
        self.pipeline.full[state.index].arrive_after_copies()

    def producer_tail(self, state):
        """Waits until the consumers have released all stages."""
        self.pipeline.producer_tail(state)

    def consumer_wait(self, state):
        """Waits until the producers have filled the stage."""
        self.pipeline.consumer_wait(state)

    def consumer_release(self, state):
        """Says that this thread is done with the stage."""
        self.pipeline.consumer_release(state)

    def make_participants(self):
        """A `PipelineProducer` and a `PipelineConsumer`, which count the stages themselves."""
        return PipelineProducer(self), PipelineConsumer(self)


class PipelineTmaAsync:
    """A pipeline whose stages the device fills, by copies that a thread begins: of tiles of a `kp.make_tma`, or of many bytes. `kp.PipelineTmaAsync.create` makes one. A stage expects the bytes that are copied to it."""

    num_stages: kp.Constexpr

    def __init__(self, pipeline):
        self.num_stages = pipeline.num_stages
        self.pipeline = pipeline

    @staticmethod
    def create(num_stages, producers, consumers):
        """As `kp.PipelineAsync.create`. Producers are the threads that begin copies, often one; consumers are whole warps."""
        kp.static_assert(
            consumers % kp.WARP_SIZE == 0, "consumers are whole warps, and a multiple of 32"
        )
        # One thread of each warp says that the warp is done.
        n_warps = consumers // kp.WARP_SIZE
        return PipelineTmaAsync(PipelineAsync.create(num_stages, producers, n_warps))

    # What `kp.copy(…, to=stage)` belongs to.
    def filled_by(self, state):
        return self.pipeline.full[state.index]

    def producer_acquire(self, state):
        """Waits until the consumers have released the stage."""
        self.pipeline.producer_acquire(state)

    def producer_commit(self, state):
        """Says that this thread has begun its copies to the stage, which is filled when all are there."""
        self.pipeline.producer_commit(state)

    def producer_tail(self, state):
        """Waits until the consumers have released all stages."""
        self.pipeline.producer_tail(state)

    def consumer_wait(self, state):
        """Waits until the stage is filled."""
        self.pipeline.consumer_wait(state)

    def consumer_release(self, state):
        """Says that this warp is done with the stage. All its threads come by."""
        kp.sync_warp()
        if elect_one():
            self.pipeline.consumer_release(state)

    def make_participants(self):
        """A `PipelineProducer` and a `PipelineConsumer`, which count the stages themselves."""
        return PipelineProducer(self), PipelineConsumer(self)


class PipelineProducer:
    """Whoever fills the stages of a pipeline, one after the other."""

    def __init__(self, pipeline):
        self.pipeline = pipeline
        self.state = make_pipeline_state(PipelineUserType.Producer, pipeline.num_stages)

    def acquire_and_advance(self):
        """Waits until the next stage is empty, and gives it, as an `AcquiredStage`."""
        self.pipeline.producer_acquire(self.state)
        stage = AcquiredStage(self.pipeline, self.state.clone())
        self.state.advance()
        return stage

    def tail(self):
        """Waits until the consumers have released all stages."""
        self.pipeline.producer_tail(self.state)


class AcquiredStage:
    """A stage that is filled: number `index`. `kp.copy(…, to=stage)` fills it as its pipeline does."""

    def __init__(self, pipeline, state):
        self.pipeline = pipeline
        self.state = state
        self.index = state.index
        self.to = pipeline.filled_by(state)

    def expect(self, n_bytes):
        """Says that so many bytes come to it. `kp.copy(…, to=stage)` says so of its own, where an mbarrier counts them."""
        self.to.expect_tx(n_bytes)

    def commit(self):
        """Says that this thread has filled its part."""
        self.pipeline.producer_commit(self.state)


class PipelineConsumer:
    """Whoever uses the stages of a pipeline, one after the other."""

    def __init__(self, pipeline):
        self.pipeline = pipeline
        self.state = make_pipeline_state(PipelineUserType.Consumer, pipeline.num_stages)

    def wait_and_advance(self):
        """Waits until the next stage is full, and gives it, as a `FilledStage`."""
        self.pipeline.consumer_wait(self.state)
        stage = FilledStage(self.pipeline, self.state.clone())
        self.state.advance()
        return stage


class FilledStage:
    """A stage that is used: number `index`."""

    def __init__(self, pipeline, state):
        self.pipeline = pipeline
        self.state = state
        self.index = state.index

    def release(self):
        """Says that this thread is done with it."""
        self.pipeline.consumer_release(self.state)


class TilePipeline:
    """Tiles in shared memory that the device brings, one after the other. `kp.tile_pipeline` makes one."""

    def __init__(self, source, tiles, consumers):
        stages = kp.size(tiles, mode=[2])
        pipeline = PipelineTmaAsync.create(stages, 1, consumers)
        self.source = source
        self.tiles = tiles
        self.producer, self.consumer = pipeline.make_participants()

    def fill(self, place):
        """Has the device bring the tile at `place` to the next stage, when that is empty; one thread does it."""
        stage = self.producer.acquire_and_advance()
        kp.copy(self.source[None, place], self.tiles[None, None, stage.index], to=stage)
        stage.commit()

    def next(self):
        """The `FilledTile` that comes next, when it is there."""
        stage = self.consumer.wait_and_advance()
        return FilledTile(self.tiles[None, None, stage.index], stage)


class FilledTile:
    """A tile that is used, `tile`, (rows, columns)."""

    def __init__(self, tile, stage):
        self.tile = tile
        self.stage = stage

    def release(self):
        """Says that this warp is done with it. All its threads come by."""
        self.stage.release()


def tile_pipeline(source, tiles, consumers):
    """A `TilePipeline` of what `kp.make_tma` gives, `source`, to a tensor in shared memory, (rows, columns, stages), for so many threads that use its tiles, whole warps. All threads of the block make it."""
    return TilePipeline(source, tiles, consumers)
