"""The output of the study: tables, figures, verdicts and the page, on made-up results.

The made-up results have the paper's arms with values near its numbers, so that most verdicts agree;
a test changes what it is about, and the verdict must change with it.
"""

import itertools
import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy import stats

from understudy.errors import BadInput
from understudy.study import figure_style, illustration, paper
from understudy.study.arms import ANALYSES, COLUMNS, LABELS, OURS, Results, true_value
from understudy.study.catalogue import FIGURES, Layout
from understudy.study.figures import draw
from understudy.study.findings import Agreement, Order, compare, number
from understudy.study.output import write_outputs
from understudy.study.page import write_index
from understudy.study.promises import promises
from understudy.study.sections import AFTER_APPLICATION, BEFORE_APPLICATION
from understudy.study.tables import (
    arm_values,
    arms,
    counts_frame,
    has,
    standard_errors,
    summarise,
    supplement_table,
    table_1,
    utility_frame,
    write_tables,
)
from understudy.study.verdicts import checks, illustrated, verdicts
from understudy.study.violins import density, has_density

R = 100
SETTINGS = {"replicates": R, "seed": 1, "sampler": "quadrature", "records": 2000, "version": "9.9"}

BOUNDS = {"unweighted": 10.0, "weighted": 2.6, "weighted-e": 2.5}
LOSSES = {"unweighted": 0.02, "weighted": 0.06, "ph": 0.3, "ph-sqrt": 0.07, "data": 0.0}
TARGETED_LOSSES = {"weighted-e": 0.35, "censor-w": 0.33, "censor-uw": 0.6}


def loss_of(arm):
    """Utility falls with ε for the paper's targeted arms, and is constant for the others."""
    if arm.mechanism in TARGETED_LOSSES:
        worse = TARGETED_LOSSES[arm.mechanism] / arm.epsilon
        return worse if arm.c1 != 0.8 else 0.9 * worse
    return LOSSES.get(arm.mechanism, 0.025)


def made_up(replicates=R, seed=0):
    """Return results in which most of what the paper says is true."""
    generator = np.random.default_rng(seed)
    rows = []
    for arm in arms():
        scale = arm.c1 or 1.0

        def add(statistic, values, arm=arm):
            for replicate, value in enumerate(values):
                rows.append(
                    (
                        replicate,
                        arm.mechanism,
                        np.nan if arm.epsilon is None else arm.epsilon,
                        np.nan if arm.c1 is None else arm.c1,
                        statistic,
                        float(value),
                    )
                )

        noise = generator.normal(0, 0.003, replicates)
        loss = loss_of(arm)
        if arm.mechanism != "data":
            add("max_ecdf", loss + np.abs(noise))
            add("avg_ecdf", (loss + np.abs(noise)) ** 2)
        for statistic in ANALYSES:
            add(statistic, true_value(statistic) + loss + noise)
        if has(arm.mechanism, "lipschitz_bound"):
            spread = 0.1 if arm.mechanism == "weighted-e" else 0.25
            centre = arm.epsilon / 2 + 0.05 if arm.mechanism == "weighted-e" else None
            centre = centre or BOUNDS.get(arm.mechanism, 2.6)
            bounds = scale * np.clip(
                generator.normal(centre, spread, replicates), centre - 0.8, centre + 0.8
            )
            if arm.mechanism.startswith("censor"):
                shift = 0.2 if arm.mechanism == "censor-w" else 9.0
                bounds = np.minimum(bounds + shift, arm.epsilon / 2)
            add("lipschitz_bound", bounds)
        printed = paper.TABLE_1.get((arm.mechanism, arm.epsilon))
        if printed:
            mean = (
                printed.mean if arm.c1 != 0.8 else paper.SUPPLEMENT_TABLE[arm.mechanism, 0.8].mean
            )
            counts = np.maximum(generator.normal(mean, printed.sd / 3, replicates), 0).round()
            add("records", counts - counts.mean() + mean)
            if arm.mechanism == "censor-w":
                add("records_unweighted", counts + 1)
    return pd.DataFrame(rows, columns=list(COLUMNS))


@pytest.fixture(scope="module")
def frame():
    return made_up()


@pytest.fixture
def results(frame):
    return Results(frame)


@pytest.fixture(scope="module")
def written(frame, tmp_path_factory):
    directory = tmp_path_factory.mktemp("study")
    write_outputs(frame, SETTINGS, directory)
    return directory


def changed(frame, change, **where):
    """Return the results with `change` applied to the values that match."""
    copy = frame.copy()
    chosen = np.ones(len(copy), dtype=bool)
    for column, wanted in where.items():
        chosen &= (copy[column] == wanted).to_numpy()
    assert chosen.any()
    copy.loc[chosen, "value"] = change(copy.loc[chosen, "value"])
    return Results(copy)


# Reading the results


def test_arms_without_target_or_weights_are_the_same_in_every_panel(results, frame):
    plain = frame[(frame.mechanism == "unweighted") & (frame.statistic == "max_ecdf")]
    for epsilon in paper.EPSILONS:
        found = results.values("unweighted", "max_ecdf", epsilon=epsilon, c1=0.8)
        np.testing.assert_array_equal(found, plain.value)


def test_values_come_in_the_order_of_the_replicates(frame):
    shuffled = Results(frame.sample(frac=1, random_state=3))
    expected = Results(frame).values("ph", "median", epsilon=4.0)
    np.testing.assert_array_equal(shuffled.values("ph", "median", epsilon=4.0), expected)


@pytest.mark.parametrize("column", COLUMNS)
def test_results_without_a_column_are_refused(frame, column):
    with pytest.raises(BadInput, match=column):
        Results(frame.drop(columns=column))


def test_results_that_lack_a_replicate_of_an_arm_are_refused(frame):
    torn = Results(frame.drop(frame[frame.mechanism == "ph"].index[0]))
    with pytest.raises(BadInput, match="for every replicate"):
        torn.values("ph", "max_ecdf", epsilon=5.0)


def test_true_values_are_those_of_the_beta_distribution():
    law = stats.beta(*paper.SHAPES)
    found = [true_value(statistic) for statistic in ("mean", "median", "q15", "q90")]
    np.testing.assert_allclose(found, [law.mean(), law.ppf(0.5), law.ppf(0.15), law.ppf(0.9)])


# Tables


def test_counts_are_summarised_as_numpy_does_it(frame, results):
    chosen = frame[
        (frame.mechanism == "censor-uw") & (frame.epsilon == 3) & (frame.statistic == "records")
    ].value.to_numpy()
    row = next(r for r in table_1(results) if (r.mechanism, r.epsilon) == ("censor-uw", 3.0))
    expected = [
        *np.percentile(chosen, [0, 25, 50]),
        chosen.mean(),
        *np.percentile(chosen, [75, 100]),
    ]
    np.testing.assert_allclose(row.ours[:6], expected)
    assert row.ours.sd == pytest.approx(np.sqrt(((chosen - chosen.mean()) ** 2).sum() / (R - 1)))
    assert row.printed == paper.TABLE_1["censor-uw", 3.0]


def test_standard_errors_take_both_runs_into_account():
    ours = paper.Counts(0, 0, 0, 130, 0, 0, 30)
    printed = paper.Counts(0, 0, 0, 110, 0, 0, 40)
    assert standard_errors(ours, printed, 100) == pytest.approx(20 / np.sqrt(9 + 16))
    # A single replicate knows no standard deviation of its own.
    assert standard_errors(ours, printed, 1) == pytest.approx(20 / np.sqrt(1600 + 16))


def test_a_mean_five_standard_errors_away_is_marked_and_one_beside_the_paper_s_is_not(frame):
    far = changed(frame, lambda v: v + 30, mechanism="censor-uw", epsilon=4.0, statistic="records")
    marked = {(row.mechanism, row.epsilon) for row in table_1(far) if row.differs}
    assert marked == {("censor-uw", 4.0)}


def test_tables_hold_the_paper_s_numbers_beside_ours(results):
    written = counts_frame(supplement_table(results))
    sources = written.groupby(["mechanism", "c1"])["source"].apply(list)
    assert sources["weighted-e", 0.8] == ["this run", "paper"]
    assert sources["censor-w", 0.8] == ["this run", "paper", "this run, unweighted"]
    printed = written[(written.source == "paper") & (written.c1 == 0.8)]
    assert list(printed["mean"]) == [91, 144]


def test_the_utility_table_has_every_arm_and_statistic_once(results):
    table = utility_frame(results)
    assert not table.duplicated(["mechanism", "epsilon", "c1", "statistic"]).any()
    assert set(table.mechanism) == set(LABELS)
    row = table[(table.mechanism == "ph") & (table.epsilon == 5) & (table.statistic == "max_ecdf")]
    values = results.values("ph", "max_ecdf", epsilon=5.0)
    assert row["median"].item() == pytest.approx(np.median(values))
    assert row["mean"].item() == pytest.approx(np.mean(values))


def test_written_tables_can_be_read_back(written, results):
    table = pd.read_csv(written / "table-1.csv")
    assert len(table) == 2 * len(paper.TABLE_1) + 3
    assert len(pd.read_csv(written / "utility.csv")) == len(utility_frame(results))


# Figures


def test_a_violin_is_the_kernel_density_of_its_values():
    values = np.random.default_rng(1).normal(size=200)
    grid, heights = density(values)
    bandwidth = 0.9 * min(values.std(ddof=1), stats.iqr(values) / 1.34) * 200**-0.2
    expected = [stats.norm.pdf(at, values, bandwidth).mean() for at in grid]
    np.testing.assert_allclose(heights, expected)
    assert (grid[0], grid[-1]) == (values.min(), values.max())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.full(100, 2.5), False),
        (np.array([1.0]), False),
        (np.array([1.0, 2.0, 3.0]), False),
        (np.linspace(1, 2, 50), True),
        (np.r_[np.full(75, 2.0), np.linspace(1, 2, 25)], True),
    ],
)
def test_only_values_that_spread_have_a_density(values, expected):
    assert has_density(values, span=2.0) == expected
    if expected:
        assert np.isfinite(density(values)[1]).all()


def test_every_figure_is_there_in_both_formats(written):
    names = {*FIGURES, illustration.NAME}
    for ending in ("png", "svg"):
        assert {path.stem for path in (written / "figures").glob(f"*.{ending}")} == names


def texts(path):
    root = ElementTree.parse(path).getroot()
    return {"".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_a_figure_names_its_rows_and_panels_in_text_that_stays_text(written, figure):
    found = texts(written / "figures" / f"{figure.name}.svg")
    assert {LABELS[mechanism] for mechanism in figure.mechanisms} <= found
    assert {panel.title for panel in figure.panels} <= found
    assert ("Not in the paper:" in found) == bool(figure.beyond)


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_a_figure_shows_every_value_and_the_dashed_line_of_its_caption(results, figure):
    canvas = draw(figure, results)
    for axes, panel in zip(canvas.axes, figure.panels, strict=True):
        dashed = [line.get_xdata()[0] for line in axes.lines if line.is_dashed()]
        if figure.statistic == "lipschitz_bound":
            assert dashed == [panel.epsilon / 2]
        elif figure.statistic in ANALYSES:
            assert dashed == [pytest.approx(true_value(figure.statistic))]
        else:
            assert dashed == []
        assert bool(dashed) == ("Dashed" in figure.caption(R))
        low, high = axes.get_xlim()
        for mechanism in (*figure.mechanisms, *figure.beyond):
            values = results.values(mechanism, figure.statistic, epsilon=panel.epsilon, c1=panel.c1)
            assert low < values.min() <= values.max() < high


@pytest.mark.parametrize("name", ["avg-ecdf", "mean", "q15", "downscaling-q15"])
def test_no_label_touches_another_or_is_cut_off(results, name):
    with figure_style.style():
        figure = draw(FIGURES[name], results)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    renderer = canvas.get_renderer()
    labels = [
        text.get_window_extent(renderer)
        for axes in figure.axes
        for text in (*axes.get_xticklabels(), *axes.get_yticklabels(), axes.title, *axes.texts)
        if text.get_text() and text.get_visible()
    ]
    width, height = figure.bbox.size
    assert all(box.x0 >= 0 and box.x1 <= width for box in labels)
    assert all(box.y0 >= 0 and box.y1 <= height for box in labels)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(labels, 2))


def test_the_same_results_give_the_same_files(written, results, tmp_path):
    write_tables(results, tmp_path)
    with figure_style.style():
        for name in ("lipschitz", "downscaling-mean"):
            figure = FIGURES[name]
            figure_style.save(draw(figure, results), tmp_path, name, figure.title)
    files = list(tmp_path.iterdir())
    assert len(files) == 7
    for path in files:
        first = next(written.rglob(path.name))
        assert path.read_bytes() == first.read_bytes(), path.name


# The illustration


@pytest.fixture(scope="module")
def curves():
    return illustration.compute()


def test_densities_of_the_illustration_integrate_to_one(curves):
    for curve in curves:
        assert np.trapezoid(curve.density, curve.at) == pytest.approx(1, abs=5e-3)


def test_the_posterior_given_one_record_agrees_with_brute_force(curves):
    records = np.random.default_rng(illustration.SEED).beta(*paper.ILLUSTRATION_SHAPES, paper.N)
    phi = (np.arange(400) + 0.5) / 400
    # λ = 0.1 e^t under its prior has t exponential with rate 1.5.
    t = (np.arange(2000) + 0.5) / 100
    precision = 0.1 * np.exp(t)
    loglik = stats.beta.logpdf(
        records.max(), precision[:, None] * phi, precision[:, None] * (1 - phi)
    )
    bound = paper.ILLUSTRATION_EPSILON / 2
    for name, scores in (
        (illustration.POSTERIOR, loglik),
        (illustration.CENSORED, np.clip(loglik, -bound, bound)),
    ):
        mass = (np.exp(scores) * np.exp(-1.5 * t)[:, None]).sum(axis=0)
        mass /= mass.sum()
        mean = (mass * phi).sum()
        curve = next(c for c in curves if (c.given, c.name) == ("record", name))
        assert curve.mean == pytest.approx(mean, abs=2e-3)
        assert curve.sd == pytest.approx(np.sqrt((mass * (phi - mean) ** 2).sum()), abs=2e-3)
        inside = (phi > 0.1) & (phi < 0.9)
        np.testing.assert_allclose(
            np.interp(phi[inside], curve.at, curve.density), (400 * mass)[inside], rtol=0.02
        )


def test_the_illustration_is_judged_by_its_numbers(curves):
    summary = illustration.summary(curves)
    assert illustrated(summary).outcome is Agreement.AGREES
    censored = (summary.given == "table") & (summary.density == illustration.CENSORED)
    plain = summary[(summary.given == "table") & (summary.density == illustration.POSTERIOR)]
    still = summary.copy()
    still.loc[censored, "mean"] = plain["mean"].item()
    assert illustrated(still).outcome is Agreement.DIFFERS


# Verdicts


def test_results_like_the_paper_s_pass_every_check(results):
    assert {finding.outcome for finding in checks(results)} == {Agreement.AGREES}


@pytest.mark.parametrize(
    ("change", "where", "about"),
    [
        (
            lambda v: v + 8,
            {"mechanism": "unweighted", "statistic": "lipschitz_bound"},
            "of Unweigh",
        ),
        (
            lambda v: v - 1,
            {"mechanism": "weighted", "statistic": "lipschitz_bound"},
            "of Weighted ",
        ),
        *(
            (
                lambda v: v * 1.07,
                {"mechanism": "censor-uw", "epsilon": epsilon, "statistic": "records"},
                f"Censor_uw censors .* ε = {epsilon:g},",
            )
            for epsilon in paper.EPSILONS
        ),
        (
            lambda v: v * 0.74,
            {"mechanism": "weighted-e", "epsilon": 4.0, "c1": 1.0, "statistic": "records"},
            "truncates .* ε = 4,",
        ),
        (
            lambda v: v * 1.09,
            {"mechanism": "weighted-e", "epsilon": 3.0, "statistic": "records"},
            "truncates .* ε = 3,",
        ),
        (
            lambda v: v + 1e-6,
            {"mechanism": "censor-uw", "epsilon": 3.0, "statistic": "lipschitz_bound"},
            "exceed",
        ),
        (
            lambda v: v + 0.2,
            {"mechanism": "censor-w", "epsilon": 4.0, "c1": 1.0, "statistic": "max_ecdf"},
            "max-ECDF",
        ),
        (
            lambda v: v + 2,
            {"mechanism": "weighted", "c1": 0.8, "statistic": "lipschitz_bound"},
            "downscaling",
        ),
    ],
)
def test_a_check_fails_when_its_numbers_do(frame, change, where, about):
    failed = [
        f for f in checks(changed(frame, change, **where)) if f.outcome is not Agreement.AGREES
    ]
    assert len(failed) == 1
    assert failed[0].outcome is Agreement.DIFFERS
    assert re.search(about, failed[0].text)


def outcomes(results, name):
    return {finding.text: finding.outcome for finding in verdicts(results)[name].findings}


def outcome_of(results, name, about):
    found = [outcome for text, outcome in outcomes(results, name).items() if about in text]
    assert len(found) == 1, outcomes(results, name)
    return found[0]


@pytest.mark.parametrize(
    ("name", "about", "change", "where"),
    [
        (
            "lipschitz",
            "concentrated",
            lambda v: 2.6 + 9 * (v - 2.6),
            {"mechanism": "weighted-e", "epsilon": 5.0, "statistic": "lipschitz_bound"},
        ),
        (
            "lipschitz",
            "passes",
            lambda v: v - 1,
            {"mechanism": "weighted-e", "epsilon": 4.0, "statistic": "lipschitz_bound"},
        ),
        (
            "lipschitz",
            "gather",
            lambda v: v + 0.6,
            {"mechanism": "weighted-e", "epsilon": 3.0, "statistic": "lipschitz_bound"},
        ),
        (
            "lipschitz",
            "stays below",
            lambda v: v * 0 + 2.5,
            {"mechanism": "censor-w", "epsilon": 5.0, "statistic": "lipschitz_bound"},
        ),
        (
            "max-ecdf",
            "PH is worse",
            lambda v: v / 10,
            {"mechanism": "ph", "statistic": "max_ecdf"},
        ),
        (
            "max-ecdf",
            "Weighted-e deteriorates",
            lambda v: v / 3,
            {"mechanism": "weighted-e", "epsilon": 3.0, "statistic": "max_ecdf"},
        ),
        (
            "avg-ecdf",
            "lowest median",
            lambda v: v * 9,
            {"mechanism": "censor-w", "epsilon": 3.0, "statistic": "avg_ecdf"},
        ),
        (
            "downscaling-q15",
            "Weighted-e improves",
            lambda v: v + 0.1,
            {"mechanism": "weighted-e", "c1": 0.8, "statistic": "q15"},
        ),
        (
            "median-at-5",
            "Weighted is the closest",
            lambda v: v + 0.1,
            {"mechanism": "weighted", "c1": 1.0, "statistic": "median"},
        ),
        (
            "q90",
            "Censor_uw is farther",
            lambda v: v * 0 + true_value("q90"),
            {"mechanism": "censor-uw", "statistic": "q90"},
        ),
        (
            "table-1",
            "counts of Censor_uw",
            lambda v: v * 1.2,
            {"mechanism": "censor-uw", "epsilon": 5.0, "statistic": "records"},
        ),
    ],
)
def test_a_verdict_changes_with_the_numbers(frame, results, name, about, change, where):
    assert outcome_of(results, name, about) is Agreement.AGREES
    after = outcomes(changed(frame, change, **where), name)
    assert Agreement.DIFFERS in after.values()
    assert not any(about in text and o is Agreement.AGREES for text, o in after.items())


def test_a_difference_is_explained_where_a_reason_is_known_and_not_otherwise(frame):
    where = {"epsilon": 5.0, "statistic": "records"}
    far = changed(frame, lambda v: v * 0.1, mechanism="censor-w", **where)
    known = next(f for f in verdicts(far)["table-1"].findings if f.outcome is Agreement.DIFFERS)
    assert "because" in known.sentence
    far = changed(frame, lambda v: v * 2, mechanism="censor-uw", **where)
    unknown = next(f for f in verdicts(far)["table-1"].findings if f.outcome is Agreement.DIFFERS)
    assert unknown.sentence.endswith("no reason is known.")


def test_the_guess_at_the_paper_s_counts_is_judged_too(frame):
    def reason(guess):
        far = changed(frame, lambda v: v * 0.1, mechanism="censor-w", statistic="records")
        far = changed(far.frame, guess, mechanism="censor-w", statistic="records_unweighted")
        return next(f.reason for f in verdicts(far)["table-1"].findings if "of Censor_w" in f.text)

    assert reason(lambda v: v).endswith("which fits")
    assert reason(lambda v: v * 1.5).endswith("is closer, but does not fit")
    assert reason(lambda v: v * 5).endswith("does not fit either")


def test_arms_are_compared_on_the_same_tables():
    generator = np.random.default_rng(5)
    tables = generator.normal(10, 3, 100)
    assert compare(tables - 0.1 + generator.normal(0, 0.1, 100), tables) is Order.LOWER
    # The same shift is lost among tables that have nothing to do with each other.
    assert compare(generator.normal(10, 3, 100) - 0.1, tables) is Order.EQUAL
    assert compare(tables[:3] - 5, tables[:3]) is Order.UNCLEAR


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.097, "0.0970"), (2, "2.00"), (1055.4, "1,055"), (0.00009432, "0.000094"), (0, "0")],
)
def test_numbers_are_written_without_powers_of_ten(value, text):
    assert number(value) == text


# Guarantees


def test_the_page_s_guarantees_are_those_of_the_theorem():
    rows = {row.label: row for row in promises()}
    assert (rows["Censor_w"].said, rows["Censor_w"].kind) == ("DP", "asymptotic")
    assert (rows["Censor_uw"].added, rows["Censor_uw"].replaced) == ("ε", "2ε")
    assert rows["Censor_uw"].kind == "conditional"
    assert (rows["PH"].added, rows["PH"].replaced) == ("ε/2", "ε")
    for name in ("Anchored, history", "Anchored, ladder"):
        assert (rows[name].kind, rows[name].added, rows[name].replaced) == ("strict", "ε", "2ε")
    assert {row.label for row in rows.values() if row.beyond} == {
        label.removesuffix(" (DP)") for label in OURS.values()
    }


# The page


def test_the_page_shows_every_figure_and_table_once(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    shown = [name for part in (*BEFORE_APPLICATION, *AFTER_APPLICATION) for name in part.shows]
    assert len(shown) == len(set(shown))
    assert {*FIGURES, illustration.NAME, "table-1", "table-supplement", "utility"} == set(shown)
    for name in (*FIGURES, illustration.NAME):
        assert page.count(f'<img src="figures/{name}.svg" alt="') == 1


def test_links_of_the_page_lead_to_files_beside_it(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    links = set(re.findall(r'(?:href|src)="([^"#][^"]*)"', page))
    assert links
    for link in links:
        assert (written / link).is_file(), link


def test_anchors_of_the_page_lead_somewhere(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    targets = re.findall(r' id="([^"]+)"', page)
    assert len(targets) == len(set(targets))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(targets)


def test_no_file_mentions_where_it_was_made(written):
    for path in written.rglob("*"):
        if path.is_file():
            assert str(written.parent).encode() not in path.read_bytes(), path.name
    assert "file:" not in (written / "index.html").read_text(encoding="utf-8")


def test_the_page_says_what_was_run(written):
    page = (written / "index.html").read_text(encoding="utf-8")
    assert "<dt>Replicates</dt><dd>100</dd>" in page
    assert "<dt>Sampler</dt><dd>quadrature</dd>" in page
    assert json.loads((written / "study.json").read_text()) == SETTINGS


def test_the_page_says_differs_where_the_numbers_do(frame, written, tmp_path):
    far = changed(
        frame, lambda v: v + 0.5, mechanism="censor-w", epsilon=4.0, statistic="lipschitz_bound"
    )
    for name in ("study.json", "illustration.csv"):
        (tmp_path / name).write_bytes((written / name).read_bytes())
    far.frame.to_parquet(tmp_path / "results.parquet")
    write_index(tmp_path)
    differs = r"<b>Differs:</b> The bounds of Censor_w and Censor_uw exceed ε/2 by up to 0\.500"
    assert re.search(differs, (tmp_path / "index.html").read_text(encoding="utf-8"))
    assert not re.search(differs, (written / "index.html").read_text(encoding="utf-8"))


def test_the_application_is_included_once_it_has_been_run(written):
    write_index(written)
    page = (written / "index.html").read_text(encoding="utf-8")
    assert "<code>understudy study application</code>" in page
    folder = written / "application"
    folder.mkdir()
    (folder / "section.html").write_text(
        '<section id="application"><p>Done &amp; dusted</p></section>'
    )
    try:
        write_index(written)
        page = (written / "index.html").read_text(encoding="utf-8")
        assert "<p>Done &amp; dusted</p>" in page
        assert "<code>understudy study application</code>" not in page
    finally:
        (folder / "section.html").unlink()
        folder.rmdir()
        write_index(written)


def test_the_application_alone_makes_a_page_that_asks_for_the_simulation(tmp_path):
    (tmp_path / "application").mkdir()
    (tmp_path / "application" / "section.html").write_text("<section>Done</section>")
    write_index(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<section>Done</section>" in page
    assert "<code>understudy study</code>" in page
    assert "<img" not in page


@pytest.mark.parametrize("replicates", [1, 3])
def test_few_replicates_are_enough_for_a_page_and_are_drawn_as_points(
    written, tmp_path, replicates
):
    frame = made_up(replicates)
    frame.to_parquet(tmp_path / "results.parquet")
    (tmp_path / "illustration.csv").write_bytes((written / "illustration.csv").read_bytes())
    write_index(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<b>Open:</b>" in page
    assert not re.search(r"\bnan\b", page)
    for figure in FIGURES.values():
        for axes in draw(figure, Results(frame)).axes:
            drawn = [line for line in axes.lines if not line.is_dashed()]
            assert len(drawn) == len(figure.mechanisms + figure.beyond)
            assert not axes.collections


def test_a_single_replicate_makes_every_file(tmp_path, monkeypatch):
    monkeypatch.setattr(illustration, "_POINTS", {"table": 33, "record": 33})
    few = {name: FIGURES[name] for name in ("lipschitz", "downscaling-q15")}
    monkeypatch.setattr("understudy.study.figures.FIGURES", few)
    write_outputs(made_up(1), {**SETTINGS, "replicates": 1}, tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    tables = {"table-1.csv", "table-supplement.csv", "utility.csv", "illustration.csv"}
    pictures = {f"figures/{n}.{end}" for n in (*few, illustration.NAME) for end in ("png", "svg")}
    assert found == {"index.html", "results.parquet", "study.json", *tables, *pictures}


def test_downscaled_figures_have_the_confidential_data_only_where_it_has_a_value():
    for figure in FIGURES.values():
        assert ("data" in figure.mechanisms) == (figure.statistic in ANALYSES)
        if figure.layout is Layout.DOWNSCALING:
            assert [panel.c1 for panel in figure.panels] == [1.0, 0.8]


def test_arm_values_are_those_of_the_table(results):
    for arm in arms():
        values = arm_values(results, arm, "median")
        assert summarise(values).maximum == values.max()
