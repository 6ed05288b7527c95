import subprocess
import sys

import numpy as np
import pytest

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.models.beta import beta
from understudy.samplers.lipschitz import censored_records, lipschitz_bound, reach
from understudy.score import Row, score

UNIT = Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
)


def test_streamed_maxima_equal_those_of_a_matrix_of_draws_by_records():
    model = beta(UNIT)
    generator = np.random.default_rng(5)
    values = np.concatenate([generator.beta(0.5, 3, 200), [0.0, 1.0]])
    data = model.prepare({"x": values})
    draws = jnp.asarray(generator.normal(size=(40, 2)))
    row = Row(jnp.asarray(generator.uniform(size=202)), jnp.zeros(202), jnp.asarray(1.5))
    reached = reach(model, draws, data, row)
    logliks = jnp.stack([jax.jit(model.record_loglik)(model.constrain(z), data) for z in draws])
    scores = jax.vmap(lambda f: score(f, row))(logliks)
    np.testing.assert_allclose(reached.risk, jnp.max(jnp.abs(logliks), axis=0), rtol=1e-12)
    np.testing.assert_allclose(reached.largest_score, jnp.max(jnp.abs(scores), axis=0), rtol=1e-12)
    assert lipschitz_bound(reached) == float(jnp.max(jnp.abs(scores)))
    at_bound = jnp.any(jnp.abs(scores) >= 1.5, axis=0)
    assert 0 < censored_records(reached, row) == int(jnp.sum(at_bound)) < 202


MILLION = """
from pathlib import Path
import numpy as np
import pytest
from understudy._jax import jnp
from understudy.samplers.lipschitz import lipschitz_bound, reach
from understudy.models.beta import beta
from understudy.domain.schema import Schema
from understudy.score import Row
from understudy.mechanisms.weighted import weights_from_risk

column = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
model = beta(Schema.from_dict({"columns": {"x": column}}))
generator = np.random.default_rng(0)
n, draws = 1_000_000, 1000
data = model.prepare({"x": generator.beta(0.5, 3, n)})
z = jnp.asarray([-1.8, 1.25]) + 0.01 * jnp.asarray(generator.normal(size=(draws, 2)))
row = Row(jnp.ones(n), jnp.zeros(n), jnp.asarray(jnp.inf))
reached = reach(model, z, data, row)
alpha = weights_from_risk(reached.risk, c1=1.0, c2=0.0)
weighted = reach(model, z, data, row._replace(alpha=alpha))
assert 0 < lipschitz_bound(weighted) < lipschitz_bound(reached)
(peak,) = [l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("VmHWM")]
print(peak)
"""


@pytest.mark.slow
def test_a_million_records_and_a_thousand_draws_stay_under_two_gibibytes():
    """A matrix of draws by records would take 8 GB."""
    done = subprocess.run(
        [sys.executable, "-c", MILLION], capture_output=True, text=True, check=True, timeout=400
    )
    kibibytes = int(done.stdout.split()[-2])
    assert kibibytes < 2 * 1024**2
