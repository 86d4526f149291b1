"""Golden values of the layers and losses that common_layers.py does not have.

python3 tests/golden/layers.py > tests/nn/layers_golden_values.h

Each module adds its values as it is imported; the order is that of the header.
"""

# isort: skip_file
import recurrent  # noqa: F401
import norms  # noqa: F401
import losses  # noqa: F401
import parametrizations  # noqa: F401
import attention  # noqa: F401
import bags_and_pairs  # noqa: F401
import configurations  # noqa: F401
from golden import header
from modules import values

print(header("layers.py", "Sums of results and gradients of further layers and losses", "kGolden", values))
