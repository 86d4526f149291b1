// Value: what the storage of a sample holds in place of bytes.
#pragma once

#include "tensor/batching/level.h"
#include "tensor/ops/copy.h"

namespace weft::batching {

class Value {
 public:
  explicit Value(size_t bytes) : bytes_(bytes) {}

  /// The batch whose samples, seen through `view`, are the elements of this memory.
  void set(uint64_t level, const Batch& batch, const View& view);
  bool empty() const { return !whole_.x.defined(); }
  /// Whether a write now, which is not recorded, takes a history away that the batch has.
  bool loses_history() const;
  /// Makes reading while recording an error, until all of it is written anew.
  void set_history_lost() { history_lost_ = true; }
  uint64_t level() const { return level_; }
  size_t bytes() const { return bytes_; }
  /// The batch seen through another view of the memory. GradientError where its tensor was written in place since.
  Batch through(const View& view);
  /// Replaces the part that `view` describes.
  void write(const View& view, const Batch& part, int64_t size);
  /// Adds to the part that `view` describes; several elements may be in one place.
  void add(const View& view, const Batch& part, int64_t size);

 private:
  /// The elements in the order of memory: (batch,) elements.
  Tensor flat();
  void check_unwritten() const;
  void check_history() const;
  /// The part of flat elements (with the batch axis first where there is one) as a view op.
  AnyOp part_of_flat(const View& view, bool batched) const;
  void set_flat(const Tensor& flat, bool batched);
  /// A part of the flat elements: the adjoint of its view, which scatters `values` among zeros.
  struct FlatPart {
    op::ViewAdjoint scatter;
    Tensor values;
    bool batched;
  };
  /// The part that `view` describes, after which the value itself is flat; batched where the value or `part` is.
  FlatPart flat_part(const View& view, const Batch& part, int64_t size);

  size_t bytes_;
  uint64_t level_ = 0;
  Batch whole_;
  View view_;             // of the memory, in which `whole_` shows it
  uint64_t version_ = 0;  // of whole_'s storage
  bool history_lost_ = false;
  Tensor flat_;
};

}  // namespace weft::batching
