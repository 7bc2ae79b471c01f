"""What Croissant's vocabulary for responsible AI asks, as far as a warehouse knows it; nothing is guessed."""

from collections.abc import Iterable, Sequence
from typing import Any

from talkhouse.packages.content import Config, Package
from talkhouse.packages.known_facts import Agreement, CorpusFacts, SchemeFacts

_MAINTENANCE = (
    "Talkhouse makes it again from the publisher's files: a new build of changed files, then a new export. "
    "The publisher's files themselves are maintained by their publisher."
)


def responsible_ai(package: Package, facts: Sequence[CorpusFacts]) -> dict[str, Any]:
    """Return the properties of which something is known; demographics are said not to be published."""
    schemes, said = [scheme for corpus in facts for scheme in corpus.schemes], package.about_pseudonyms
    known = {
        "dataCollection": " ".join(_collection(corpus) for corpus in facts),
        "dataAnnotationProtocol": [f"{scheme.scheme}: {scheme.description}" for scheme in schemes],
        "annotationsPerItem": "; ".join(map(_annotators, schemes)),
        "annotatorDemographics": ["not published"],
        "dataAnnotationAnalysis": [
            _agreement(scheme, agreement) for scheme in schemes for agreement in scheme.agreement
        ],
        "dataPreprocessingProtocol": list(_preprocessing(package.configs)),
        "personalSensitiveInformation": [said["remark"]] if said else [],
        "dataReleaseMaintenancePlan": _MAINTENANCE,
    }
    return {f"rai:{name}": value for name, value in known.items() if value}


def _collection(corpus: CorpusFacts) -> str:
    if corpus.is_sample:
        return f"{corpus.title}: invented for Talkhouse, in the form of the corpus."
    return f"{corpus.title}: {corpus.description} Described at {corpus.homepage}."


def _annotators(scheme: SchemeFacts) -> str:
    """Say how many have annotated a unit: the usual number, and the range where there is one."""
    usual = f"{scheme.scheme}: {scheme.median_annotators}"
    if scheme.fewest_annotators == scheme.most_annotators:
        return usual
    return f"{usual} (median; {scheme.fewest_annotators} to {scheme.most_annotators})"


def _agreement(scheme: SchemeFacts, agreement: Agreement) -> str:
    release = f" in {agreement.release}" if agreement.release else ""
    alpha = agreement.krippendorff_alpha
    measured = "a single label occurs" if alpha is None else f"Krippendorff's alpha {alpha:.3f}"
    return (
        f"{scheme.scheme}{release}: {measured}, mean share of the majority {agreement.mean_majority_share:.3f}, "
        f"over {agreement.units} annotated units ({scheme.target})"
    )


def _preprocessing(configs: Iterable[Config]) -> Iterable[str]:
    """Say what the views do with texts that are stored as they were published."""
    yield "Talkhouse stores texts as their publisher has them, to the character; what a view makes of them, it says."
    for config in configs:
        if config.comment:
            yield f"{config.selection.full_name}: {config.comment}"
