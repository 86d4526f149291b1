"""Golden rates of schedules: python3 tests/golden/schedules.py > tests/optim/schedule_values.h"""

import math

import torch
from torch import optim
from torch.optim import lr_scheduler as schedules
from torch.optim.swa_utils import SWALR

from golden import digest, header

values = {}


def rates(name, make, metric=None, momentum=None, cls=optim.SGD, **options):
    """The rates of the first 60 steps (and the momenta where they are cycled): every sixth, and the digest of all."""
    optimizer = cls([torch.nn.Parameter(torch.zeros(1))], lr=0.4, **options)
    schedule = make(optimizer)
    numbers, momenta = [], []
    for step in range(60):
        group = optimizer.param_groups[0]
        numbers.append(group["lr"])
        if momentum:
            momenta.append(group["betas"][0] if "betas" in group else group["momentum"])
        optimizer.step()
        schedule.step(*([metric(step)] if metric else []))
    values[name] = []
    for series in (numbers, momenta) if momentum else (numbers,):
        values[name] += [*series[::6], *digest(torch.tensor(series))]


rates("multi_step", lambda o: schedules.MultiStepLR(o, [4, 17, 18, 40], gamma=0.3))
rates("multi_step_default", lambda o: schedules.MultiStepLR(o, [30]))
rates("constant", lambda o: schedules.ConstantLR(o))
rates("constant_long", lambda o: schedules.ConstantLR(o, factor=0.05, total_iters=33))
rates("linear", lambda o: schedules.LinearLR(o))
rates("linear_down", lambda o: schedules.LinearLR(o, start_factor=1.0, end_factor=0.1, total_iters=45))
rates("exponential", lambda o: schedules.ExponentialLR(o, gamma=0.93))
rates("exponential_up", lambda o: schedules.ExponentialLR(o, gamma=1.02))
rates("polynomial", lambda o: schedules.PolynomialLR(o))
rates("polynomial_square", lambda o: schedules.PolynomialLR(o, total_iters=50, power=2.0))
rates("warm_restarts", lambda o: schedules.CosineAnnealingWarmRestarts(o, 7))
rates("warm_restarts_double", lambda o: schedules.CosineAnnealingWarmRestarts(o, 5, T_mult=2, eta_min=0.01))
rates("warm_restarts_triple", lambda o: schedules.CosineAnnealingWarmRestarts(o, 3, T_mult=3))
rates("one_cycle_three", lambda o: schedules.OneCycleLR(o, 1.0, 60, three_phase=True), momentum=True)
rates("cyclic", lambda o: schedules.CyclicLR(o, 0.01, 0.2, 8), momentum=True)
rates("cyclic_half", lambda o: schedules.CyclicLR(o, 0.01, 0.2, 5, 11, mode="triangular2"), momentum=True)
rates(
    "cyclic_exp",
    lambda o: schedules.CyclicLR(o, 0.1, 0.3, 6, mode="exp_range", gamma=0.97, base_momentum=0.7, max_momentum=0.95),
    momentum=True,
    cls=optim.Adam,
)
rates("cyclic_rate", lambda o: schedules.CyclicLR(o, 0.0, 0.2, 20, 3, cycle_momentum=False))
rates("lambda", lambda o: schedules.LambdaLR(o, lambda step: 1 / math.sqrt(1 + step)))
rates("multiplicative", lambda o: schedules.MultiplicativeLR(o, lambda step: 0.9 + 0.1 * math.sin(step)))
rates(
    "sequential",
    lambda o: schedules.SequentialLR(
        o,
        [
            schedules.ConstantLR(o, factor=0.1, total_iters=4),
            schedules.ExponentialLR(o, gamma=0.9),
            schedules.StepLR(o, step_size=5, gamma=0.5),
        ],
        milestones=[6, 30],
    ),
)
rates(
    "chained",
    lambda o: schedules.ChainedScheduler(
        [schedules.ConstantLR(o, factor=0.1, total_iters=20), schedules.ExponentialLR(o, gamma=0.95)]
    ),
)
rates(
    "chained_three",
    lambda o: schedules.ChainedScheduler(
        [
            schedules.LinearLR(o, total_iters=12),
            schedules.MultiStepLR(o, [10, 30], gamma=0.5),
            schedules.PolynomialLR(o, total_iters=80),
        ]
    ),
)


def joined(cls, **options):
    """A warm-up, then a schedule whose first rate is the optimizer's own."""

    def make(o):
        parts = [schedules.LinearLR(o, start_factor=0.2, total_iters=12), cls(o, **options)]
        return schedules.SequentialLR(o, parts, milestones=[12])

    return make


rates("joined_one_cycle", joined(schedules.OneCycleLR, max_lr=10.0, total_steps=49, cycle_momentum=False))
rates("joined_cyclic", joined(schedules.CyclicLR, base_lr=0.4, max_lr=0.9, step_size_up=6, cycle_momentum=False))
for mode, scale in [("cycle", lambda x: 1 / x), ("iterations", lambda x: 0.95**x)]:
    options = dict(step_size_up=7, step_size_down=3, scale_fn=scale, scale_mode=mode)
    rates(f"cyclic_scale_{mode}", lambda o: schedules.CyclicLR(o, 0.01, 0.2, **options), momentum=True)


def group_rates(name, make):
    """The rates of two groups."""
    parameters = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimizer = optim.SGD([{"params": [parameters[0]]}, {"params": [parameters[1]], "lr": 0.1}], lr=0.4, momentum=0.9)
    schedule = make(optimizer)
    series = [[], []]
    for step in range(60):
        for numbers, group in zip(series, optimizer.param_groups):
            numbers.append(group["lr"])
        optimizer.step()
        schedule.step(*([1.0] if isinstance(schedule, schedules.ReduceLROnPlateau) else []))
    values[name] = [number for numbers in series for number in [*numbers[::6], *digest(torch.tensor(numbers))]]


group_rates("groups_one_cycle", lambda o: schedules.OneCycleLR(o, max_lr=[1.0, 0.2], total_steps=60))
group_rates("groups_cyclic", lambda o: schedules.CyclicLR(o, [0.01, 0.1], [0.2, 0.5], step_size_up=8))
group_rates("groups_plateau", lambda o: schedules.ReduceLROnPlateau(o, factor=0.5, patience=3, min_lr=[0.1, 0.002]))
group_rates("groups_lambda", lambda o: schedules.LambdaLR(o, [lambda step: 0.9**step, lambda step: 1 / (1 + step)]))
group_rates(
    "groups_multiplicative", lambda o: schedules.MultiplicativeLR(o, [lambda step: 0.97, lambda step: 1 - 0.001 * step])
)

for i, (milestones, gamma) in enumerate([([1, 2, 3], 0.9), ([59], 0.5)]):
    rates(f"multi_step_{i}", lambda o: schedules.MultiStepLR(o, milestones, gamma=gamma))
for i, (factor, steps) in enumerate([(1.0, 10), (0.5, 1)]):
    rates(f"constant_{i}", lambda o: schedules.ConstantLR(o, factor=factor, total_iters=steps))
for i, (start, end, steps) in enumerate([(0.1, 0.9, 17), (1.0, 0.0, 59)]):
    rates(f"linear_{i}", lambda o: schedules.LinearLR(o, start_factor=start, end_factor=end, total_iters=steps))
for i, gamma in enumerate([0.5, 1.0]):
    rates(f"exponential_{i}", lambda o: schedules.ExponentialLR(o, gamma=gamma))
for i, (steps, power) in enumerate([(33, 0.5), (70, 3.0)]):
    rates(f"polynomial_{i}", lambda o: schedules.PolynomialLR(o, total_iters=steps, power=power))
rates("warm_restarts_once", lambda o: schedules.CosineAnnealingWarmRestarts(o, 100, eta_min=0.1))
for i, (size, gamma) in enumerate([(7, 0.5), (1, 0.97), (59, 0.1), (20, 1.3)]):
    rates(f"step_{i}", lambda o: schedules.StepLR(o, size, gamma=gamma))
for i, (steps, low) in enumerate([(40, 0.01), (60, 0.0), (7, 0.1), (100, 0.39)]):
    rates(f"cosine_{i}", lambda o: schedules.CosineAnnealingLR(o, steps, eta_min=low))
rates(
    "one_cycle_early",
    lambda o: schedules.OneCycleLR(o, 0.8, 64, pct_start=0.1, base_momentum=0.6, max_momentum=0.9),
    momentum=True,
)
for i, factor in enumerate([lambda s: 0.95**s, lambda s: 1 + (s % 5), lambda s: max(0.0, 1 - s / 50)]):
    rates(f"lambda_{i}", lambda o: schedules.LambdaLR(o, factor))
for i, factor in enumerate([lambda s: 0.95, lambda s: s / (s + 1), lambda s: 1.1 if s % 2 else 0.9]):
    rates(f"multiplicative_{i}", lambda o: schedules.MultiplicativeLR(o, factor))


def sequential(o, milestones, *makers):
    return schedules.SequentialLR(o, [make(o) for make in makers], milestones=milestones)


def constant(o):
    return schedules.ConstantLR(o, factor=0.2, total_iters=8)


def cosine(o):
    return schedules.CosineAnnealingLR(o, 50)


def linear(o):
    return schedules.LinearLR(o, start_factor=0.5, total_iters=10)


def polynomial(o):
    return schedules.PolynomialLR(o, total_iters=25, power=1.5)


rates("sequential_warm", lambda o: sequential(o, [10], linear, cosine))
rates("sequential_short", lambda o: sequential(o, [1, 2], linear, constant, polynomial))
rates("sequential_late", lambda o: sequential(o, [35], constant, polynomial))
rates("chained_polynomial", lambda o: schedules.ChainedScheduler([constant(o), polynomial(o)]))
rates("chained_one", lambda o: schedules.ChainedScheduler([linear(o)]))
for i, (start, steps) in enumerate([(1 / 3, 20), (0.01, 1), (0.5, 30), (0.9, 59)]):
    rates(f"warmup_{i}", lambda o: schedules.LinearLR(o, start_factor=start, total_iters=steps))


class After:
    """SWALR that begins after 25 steps of another schedule."""

    def __init__(self, o):
        self.first = schedules.ExponentialLR(o, gamma=0.97)
        self.swa = SWALR(o, 0.05, anneal_epochs=12)
        self.count = 0

    def step(self):
        self.count += 1
        (self.first if self.count <= 25 else self.swa).step()


rates("swa", lambda o: SWALR(o, 0.05))
rates("swa_linear", lambda o: SWALR(o, 0.7, anneal_epochs=33, anneal_strategy="linear"))
rates("swa_at_once", lambda o: SWALR(o, 0.1, anneal_epochs=0))
rates("swa_after", After)


def metric(step):
    return 1 / (1 + 0.2 * min(step, 20)) + 0.05 * math.sin(step)


rates("plateau", lambda o: schedules.ReduceLROnPlateau(o, patience=3), metric)
rates(
    "plateau_factor",
    lambda o: schedules.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=2, min_lr=0.02),
    metric,
)
rates(
    "plateau_absolute",
    lambda o: schedules.ReduceLROnPlateau(o, factor=0.7, patience=0, threshold=0.02, threshold_mode="abs"),
    metric,
)
rates(
    "plateau_max",
    lambda o: schedules.ReduceLROnPlateau(o, mode="max", factor=0.5, patience=4, threshold=1e-2),
    lambda step: -metric(step) + 2,
)
rates("plateau_eps", lambda o: schedules.ReduceLROnPlateau(o, patience=1, eps=0.01), lambda step: 1.0)

print(header("schedules.py", "Rates of schedules", "kRates", values))
