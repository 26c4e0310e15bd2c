"""Install the packages of the peers that run on node: `python -m benchmarks.peers._node`."""

from benchmarks.peers import _node

if __name__ == "__main__":
    _node.install()
