import Catalog

extension SearchUpgradeProgress: MetricSource {
    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_search_upgrade_objects",
                "Objects of earlier versions that are not in the search tables yet.",
                remaining.map { [([], $0)] } ?? [])
        ]
    }
}
