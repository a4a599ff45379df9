"""`python -m data_gateway_device`, the same as `data-gateway-py`."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
