"""Several stabilizations in one compiled program."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from .base import Corrected, Stabilization


class Alternatives(Stabilization):
    """One of several stabilizations by a number that is traced: a study compiles one program for all of them."""

    members: tuple[Stabilization, ...]
    index: Int[Array, ""]

    corrects: ClassVar[bool] = True

    @property
    def restores(self) -> Bool[Array, ""]:
        return jnp.asarray([member.corrects for member in self.members])[self.index]

    def bias(self, terms):
        return self._switch([lambda terms, member=member: member.bias(terms) for member in self.members], terms)

    def start(self, equations, t, q, v) -> tuple[Any, ...]:
        def start(k, member):
            def begin(t, q, v):
                return member.start(equations, t, q, v)

            nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(begin, t, q, v))
            return jax.lax.cond(self.index == k, begin, lambda *_: nothing, t, q, v)

        return tuple(start(k, member) for k, member in enumerate(self.members))

    def correct(self, equations, t, q, v, terms, null, memory):
        def branch(k):
            def correct(t, q, v, terms, null, memory):
                out = self.members[k].correct(equations, t, q, v, terms, null, memory[k])
                kept = tuple(out.memory if i == k else old for i, old in enumerate(memory))
                return Corrected(out.q, out.v, kept, out.iterations, out.terms)

            return correct

        return self._switch([branch(k) for k in range(len(self.members))], t, q, v, terms, null, memory)

    def field(self, equations, t, q, v, null, memory):
        def branch(k):
            return lambda t, q, v, null, memory: self.members[k].field(equations, t, q, v, null, memory[k])

        if all(type(member).field is Stabilization.field for member in self.members):
            return q, v
        return self._switch([branch(k) for k in range(len(self.members))], t, q, v, null, memory)

    def _switch(self, branches, *operands):
        return jax.lax.switch(self.index, branches, *operands)
