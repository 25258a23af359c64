#!/bin/sh
# A Python that does not have the package memscape.
exit 3
