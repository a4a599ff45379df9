/// What the configuration says of a destination; each kind of destination has its own, beside its writer.
protocol DestinationTarget: Sendable {
    /// For people; no two targets share it.
    var name: String { get }

    /// The writer for a place that a job names; `nil` where the place is not this target, or not below it.
    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)?
}
