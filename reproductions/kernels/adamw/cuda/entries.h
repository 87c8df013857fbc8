// What one thread does of AdamW: eight entries of a chunk, as adamw/plain.py has it.
#pragma once
#include <cmath>

#include "../../both.h"

constexpr int kChunk = 2048;
constexpr int kEntries = 8;
constexpr int kThreads = kChunk / kEntries;

struct Row {  // A row of launch.py's `rows`.
  void* value;
  const void* grad;
  float* mean;
  float* square;
  const uint8_t* mask;  // Null: all are kept.
  BFloat16* copy;       // Null: the new value goes nowhere else.
  int64_t size;
};

struct Settings {
  float new_first, second, new_second, eps, rise, spread;
};

struct Launch {
  const Row* rows;
  const float* rates;           // (T, 2): step size, and by how much a weight shrinks first
  const int32_t* row_of_chunk;  // (C,)
  const int64_t* start;         // (C,)
  float* squares;               // (C, 2)
  int64_t num_chunks;
  Settings with;
};

struct Squares {
  float grad, value;
};

BOTH Squares step_entry(float& value, float grad, float& mean, float& square, bool kept, float lr,
                        float shrink, const Settings& with) {
  // Chosen and not multiplied: a pruned weight's gradient may be NaN.
  if (!kept) grad = 0.0f;
  mean += with.new_first * (grad - mean);
  square = with.second * square + with.new_second * grad * grad;
  value = value * (1.0f - shrink) - lr * (mean / with.rise) / (sqrtf(square / with.spread) + with.eps);
  if (!kept) value = 0.0f;
  return {grad * grad, value * value};
}

// Entries from `at`, a multiple of kEntries; those that lie beyond the end are left as they are.
template <class Value, class Grad>
BOTH Squares step_entries(const Row& row, int64_t at, float lr, float shrink,
                          const Settings& with) {
  if (at >= row.size) return {0.0f, 0.0f};
  Pack<Value, kEntries> value;
  Pack<Grad, kEntries> grad;
  Pack<float, kEntries> mean, square;
  Pack<uint8_t, kEntries> mask;
  Pack<BFloat16, kEntries> copy;
  const int count = row.size - at < kEntries ? int(row.size - at) : kEntries;
  read(value, static_cast<const Value*>(row.value) + at, count);
  read(grad, static_cast<const Grad*>(row.grad) + at, count);
  read(mean, row.mean + at, count);
  read(square, row.square + at, count);
  if (row.mask) read(mask, row.mask + at, count);
  Squares sum = {0.0f, 0.0f};
  UNROLL
  for (int i = 0; i < kEntries; ++i) {
    if (i >= count) break;
    float number = to_float(value.at[i]);
    const bool kept = !row.mask || mask.at[i];
    const Squares one = step_entry(number, to_float(grad.at[i]), mean.at[i], square.at[i], kept,
                                   lr, shrink, with);
    from_float(value.at[i], number);
    from_float(copy.at[i], number);
    sum.grad += one.grad;
    sum.value += one.value;
  }
  write(static_cast<Value*>(row.value) + at, value, count);
  write(row.mean + at, mean, count);
  write(row.square + at, square, count);
  if (row.copy) write(row.copy + at, copy, count);
  return sum;
}

// What a thread of a chunk's block does.
template <class Value, class Grad>
BOTH Squares step_thread(const Launch& launch, int64_t chunk, int thread) {
  const int32_t number = launch.row_of_chunk[chunk];
  return step_entries<Value, Grad>(launch.rows[number], launch.start[chunk] + thread * kEntries,
                                   launch.rates[2 * number], launch.rates[2 * number + 1],
                                   launch.with);
}
