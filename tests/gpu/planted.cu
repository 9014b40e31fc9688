// SPDX-License-Identifier: Apache-2.0
// A kernel with a mistake, which compute-sanitizer must find, with this file's name and the line.
extern "C" __global__ void planted(float *a, int n)
{
    int i = threadIdx.x;
    if (i <= n)
        a[i] = 1; // one beyond the end
}
