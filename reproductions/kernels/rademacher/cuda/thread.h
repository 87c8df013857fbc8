// What one thread does of rademacher: a call of Philox per direction, 128 entries of the tile.
#pragma once
#include "philox.h"

constexpr int kThreads = 32;
constexpr int kTile = 4096;

struct Pass {
  const float* weights;      // (C,), or null: nothing is summed
  const float* x;            // (N,), or null: nothing is projected
  const int64_t* numbers;    // (C,)
  float* out;                // (N,), or (C, T) where x is projected: a sum per tile
  uint64_t seed;
  int64_t num_directions;
  int64_t num_entries;
};

BOTH float signed_by(uint32_t word, int bit, float value) {
  return (word >> bit & 1u) ? -value : value;
}

// Where the four neighbours of a call lie that are bits 4 g to 4 g + 3 of a word.
BOTH int64_t entry(int64_t tile, int thread, int word, int g) {
  return tile * kTile + word * 1024 + g * 4 * kThreads + 4 * thread;
}

BOTH Words words_of(const Pass& pass, int64_t tile, int thread, int64_t direction) {
  const uint64_t number = uint64_t(pass.numbers[direction]);
  const uint32_t call = uint32_t(tile * kThreads + thread);
  return philox({{call, 0u, uint32_t(number), uint32_t(number >> 32)}}, uint32_t(pass.seed),
                uint32_t(pass.seed >> 32));
}

BOTH void combine(const Pass& pass, int64_t tile, int thread) {
  Pack<float, 4> sum[32] = {};
  for (int64_t i = 0; i < pass.num_directions; ++i) {
    const Words words = words_of(pass, tile, thread, i);
    const float weight = pass.weights[i];
    UNROLL
    for (int at = 0; at < 128; ++at)
      sum[at / 4].at[at % 4] += signed_by(words.word[at / 32], at % 32, weight);
  }
  UNROLL
  for (int at = 0; at < 32; ++at) {
    const int64_t to = entry(tile, thread, at / 8, at % 8);
    const int64_t left = pass.num_entries - to;
    if (left > 0) write(pass.out + to, sum[at], left < 4 ? int(left) : 4);
  }
}

BOTH void read_x(const Pass& pass, int64_t tile, int thread, Pack<float, 4>* x) {
  UNROLL
  for (int at = 0; at < 32; ++at) {
    const int64_t from = entry(tile, thread, at / 8, at % 8);
    const int64_t left = pass.num_entries - from;
    x[at] = {};
    if (left > 0) read(x[at], pass.x + from, left < 4 ? int(left) : 4);
  }
}

// What the entries of a thread, x, are along a direction.
BOTH float along(const Pass& pass, int64_t tile, int thread, int64_t direction,
                 const Pack<float, 4>* x) {
  const Words words = words_of(pass, tile, thread, direction);
  float sum = 0.0f;
  UNROLL
  for (int at = 0; at < 128; ++at)
    sum += signed_by(words.word[at / 32], at % 32, x[at / 4].at[at % 4]);
  return sum;
}
