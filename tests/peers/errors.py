"""How far an engine is from the trusted trajectory, as the benchmark measures it."""

from jaxmb.peers import Peer
from jaxmb.studies.peers import peer_engine
from jaxmb.studies.peers_problems import PROBLEMS


def error_of(peer: Peer, key: str, method: str, level: float) -> float:
    """The largest difference (m) over outputs and times; the level must be one that the benchmark runs."""
    engine = peer_engine(key, PROBLEMS[key], peer)
    levels = {each.name: each.levels for each in engine.methods}
    assert level in levels[method], "not what the benchmark runs"
    return engine.run(method, level)[0]
