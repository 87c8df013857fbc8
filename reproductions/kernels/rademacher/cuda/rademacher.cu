// Launchers without a header of torch: pointers and a stream, from ctypes.
#include "thread.h"

__global__ void __launch_bounds__(4 * kThreads) combine_kernel(Pass pass) {
  const int64_t tile = int64_t(blockIdx.x) * 4 + threadIdx.x / kThreads;
  if (tile * kTile < pass.num_entries) combine(pass, tile, threadIdx.x % kThreads);
}

extern "C" int launch_combine(Pass pass, void* stream) {
  const int64_t num_tiles = (pass.num_entries + kTile - 1) / kTile;
  if (num_tiles == 0) return 0;
  combine_kernel<<<unsigned((num_tiles + 3) / 4), 4 * kThreads, 0, cudaStream_t(stream)>>>(pass);
  return int(cudaGetLastError());
}
