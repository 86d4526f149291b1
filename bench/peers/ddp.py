"""The training of bench/distributed.cc in PyTorch: DistributedDataParallel over Gloo, beside independent processes.

mpirun -n 2 python3 bench/peers/ddp.py --threads 1
"""

import argparse
import os
import time

import torch
from torch import distributed
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from pytorch import Gpt, Mlp, ResNet18

# The model, inputs of a rank, targets and items of a step, as in bench/distributed.cc.
WORK = {
    "mlp": lambda: (Mlp, torch.randn(64, 784), torch.randint(10, (64,)), 64),
    "resnet18": lambda: (ResNet18, torch.randn(8, 3, 64, 64), torch.randint(1000, (8,)), 8),
    "gpt": lambda: (Gpt, torch.randint(256, (4, 128)), torch.randint(256, (4 * 128,)), 4 * 128),
}


def together(value, op):
    tensor = torch.tensor([value], dtype=torch.float64)
    distributed.all_reduce(tensor, op)
    return tensor.item()


def throughput(name, parallel, seconds):
    """Items a second of all ranks."""
    torch.manual_seed(1)
    make, x, targets, items = WORK[name]()
    model = make()
    forward = DistributedDataParallel(model, gradient_as_bucket_view=True) if parallel else model
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(forward(x), targets).backward()
        optimizer.step()

    for _ in range(3):
        step()
    start = time.perf_counter()
    step()
    count = int(together(max(seconds / (time.perf_counter() - start), 3), distributed.ReduceOp.MIN))
    distributed.barrier()
    start = time.perf_counter()
    for _ in range(count):
        step()
    slowest = together(time.perf_counter() - start, distributed.ReduceOp.MAX)
    return items * count * distributed.get_world_size() / slowest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default="mlp,resnet18,gpt")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    # As mpirun names the ranks, or torchrun.
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("RANK", 0)))
    size = int(os.environ.get("OMPI_COMM_WORLD_SIZE", os.environ.get("WORLD_SIZE", 1)))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    distributed.init_process_group("gloo", rank=rank, world_size=size)
    for name in options.models.split(","):
        alone, parallel = 0, 0
        for _ in range(options.rounds):  # in turns, as the machine has better and worse moments
            alone = max(alone, throughput(name, False, options.seconds))
            parallel = max(parallel, throughput(name, True, options.seconds))
        if rank == 0:
            ratio = parallel / alone
            print(f"{name:10} independent {alone:10.1f} /s   data-parallel {parallel:10.1f} /s   ratio {ratio:.3f}")
    distributed.destroy_process_group()


main()
