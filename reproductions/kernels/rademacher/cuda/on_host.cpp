// The same arithmetic compiled by a host's compiler: what tests run where there is no GPU.
#include "thread.h"

extern "C" int launch_combine(Pass pass, void*) {
  for (int64_t tile = 0; tile * kTile < pass.num_entries; ++tile)
    for (int thread = 0; thread < kThreads; ++thread) combine(pass, tile, thread);
  return 0;
}

extern "C" int launch_project(Pass pass, void*) {
  const int64_t num_tiles = (pass.num_entries + kTile - 1) / kTile;
  Pack<float, 4> x[32];
  for (int64_t i = 0; i < pass.num_directions; ++i)
    for (int64_t tile = 0; tile < num_tiles; ++tile) {
      float sum = 0.0f;
      for (int thread = 0; thread < kThreads; ++thread) {
        read_x(pass, tile, thread, x);
        sum += along(pass, tile, thread, i, x);
      }
      pass.out[i * num_tiles + tile] = sum;
    }
  return 0;
}
