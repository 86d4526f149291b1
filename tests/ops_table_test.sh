#!/bin/bash
# docs/ops.md is what the ops' descriptors say.
set -euo pipefail
if ! diff <(tools/docs/ops_table) docs/ops.md; then
  echo "docs/ops.md is not what the ops say now: ./bazelw run //tools/docs:ops_table > docs/ops.md"
  exit 1
fi
