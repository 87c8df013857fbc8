// The same arithmetic compiled by a host's compiler: what tests run where there is no GPU.
#include "thread.h"

extern "C" int launch_combine(Pass pass, void*) {
  for (int64_t tile = 0; tile * kTile < pass.num_entries; ++tile)
    for (int thread = 0; thread < kThreads; ++thread) combine(pass, tile, thread);
  return 0;
}
