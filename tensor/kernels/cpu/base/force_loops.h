// A switch for tests: products and convolutions through weft's own loops, never through oneDNN.
#pragma once

namespace weft::kernels::cpu {

/// While on, f32 kernels of all threads take the loop path that the other dtypes take. For tests.
void force_loop_kernels(bool on);
bool loops_forced();

/// Forces the loop path while alive.
class ForceLoops {
 public:
  ForceLoops() : previous_(loops_forced()) { force_loop_kernels(true); }
  ~ForceLoops() { force_loop_kernels(previous_); }
  ForceLoops(const ForceLoops&) = delete;
  ForceLoops& operator=(const ForceLoops&) = delete;

 private:
  bool previous_;
};

}  // namespace weft::kernels::cpu
