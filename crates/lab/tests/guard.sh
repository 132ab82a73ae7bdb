#!/bin/sh
# Stands for `prony guard` in unit tests: becomes the program behind the `--`.
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
