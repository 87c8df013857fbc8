// Philox4x32-10 (Salmon et al. 2011): the same arithmetic on a host and on a device.
#pragma once
#include "../../both.h"

struct Words {
  uint32_t word[4];
};

BOTH Words philox(Words counter, uint32_t key_0, uint32_t key_1) {
  UNROLL
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53u} * counter.word[0];
    const uint64_t third = uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{uint32_t(third >> 32) ^ counter.word[1] ^ key_0, uint32_t(third),
                uint32_t(first >> 32) ^ counter.word[3] ^ key_1, uint32_t(first)}};
    key_0 += 0x9E3779B9u;
    key_1 += 0xBB67AE85u;
  }
  return counter;
}
