// What sources need that a host's compiler and nvcc both take.
#pragma once
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define BOTH __host__ __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#else
#define BOTH inline
#define UNROLL
#endif

// bfloat16 by its bits: a float32 without its lower half.
struct BFloat16 {
  uint16_t bits;
};

BOTH float to_float(float number) { return number; }
BOTH float to_float(BFloat16 number) {
  const uint32_t wide = uint32_t(number.bits) << 16;
  float found;
  memcpy(&found, &wide, sizeof found);
  return found;
}

BOTH void from_float(float& to, float number) { to = number; }
BOTH void from_float(BFloat16& to, float number) {
  uint32_t wide;
  memcpy(&wide, &number, sizeof wide);
  // To the nearest, ties to even; a NaN stays one.
  if ((wide & 0x7FFFFFFFu) > 0x7F800000u) wide |= 0x00400000u;
  else wide += 0x7FFFu + (wide >> 16 & 1u);
  to.bits = uint16_t(wide >> 16);
}

// Neighbouring numbers that are read and written at once, 16 bytes at a time where they can be.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T at[N];
};

template <class T, int N>
BOTH void read(Pack<T, N>& to, const T* from, int count) {
  if (count == N && uintptr_t(from) % alignof(Pack<T, N>) == 0) {
    to = *reinterpret_cast<const Pack<T, N>*>(from);
  } else {
    UNROLL
    for (int i = 0; i < N; ++i)
      if (i < count) to.at[i] = from[i];
  }
}

template <class T, int N>
BOTH void write(T* to, const Pack<T, N>& from, int count) {
  if (count == N && uintptr_t(to) % alignof(Pack<T, N>) == 0) {
    *reinterpret_cast<Pack<T, N>*>(to) = from;
  } else {
    UNROLL
    for (int i = 0; i < N; ++i)
      if (i < count) to[i] = from.at[i];
  }
}
