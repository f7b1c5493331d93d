// The floor of a tally on a GPU: the same bytes are read, and nothing is done with them.
typedef unsigned int u32;
typedef unsigned long long u64;

struct Arrays {
  const uint4* data[3];
  u64 words[3];  // of 16 bytes
  u32* out;
};

extern "C" __global__ void __launch_bounds__(512) floor_of(const __grid_constant__ Arrays arrays) {
  u32 mix = 0;
  for (int k = 0; k < 3; k++) {
    const uint4* data = arrays.data[k];
    const u64 words = arrays.words[k], step = (u64)gridDim.x * blockDim.x;
    #pragma unroll 4
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) {
      uint4 x = __ldg(data + i);
      mix += x.x ^ x.y ^ x.z ^ x.w;
    }
  }
  if (mix == 0x12345678) atomicAdd(arrays.out, 1u);
}
