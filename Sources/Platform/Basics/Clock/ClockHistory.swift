/// The observed course of the wall clock against the time since boot, which nobody can set, and the corrections for times that were
/// recorded while the clock was wrong.
///
/// Both advance alike while the clock is right. A clock that moves by more than a day against the time since boot has *stepped*: it
/// was wrong before, or is wrong now. It is confirmed again by keeping pace for long enough, by an operator, or by stepping back to
/// the confirmed time. A machine that was off for more than a day looks like a step, too: the time since boot starts again, and
/// only the clock tells how long the machine was off.
///
/// Pure state: ``ClockGuard`` reads the clocks. All times and durations are microseconds. `Codable`, to be kept across restarts.
struct ClockHistory: Codable, Sendable, Equatable {
    /// Smaller differences are accepted: corrections of a time service, leap seconds, a restart of the machine.
    static let tolerance: Int64 = 86_400_000_000
    /// The longest time between the last saved reading and a shutdown of the machine.
    private static let unsaved: Int64 = 3_600_000_000
    private static let maximumSpans = 64

    /// The wall clock at the last reading.
    private(set) var wall: Int64
    /// The time since boot at the last reading.
    private(set) var sinceBoot: Int64
    /// The difference of both that later readings are compared with, and the time since boot when it was taken. Taken again after
    /// each confirmation period, so that slow drift is accepted but small steps do not add up unnoticed.
    private var reference: Int64
    private var referenceAt: Int64
    /// The sum of all steps since the first reading: the time by which the wall clock is ahead of the steady time.
    private(set) var shift: Int64 = 0
    /// `shift` when the clock was last confirmed.
    private var confirmedShift: Int64 = 0
    /// The time since the last step in which the clock kept pace with the time since boot.
    private(set) var consistentFor: Int64 = 0
    /// The earliest time of the clock's current course: times of the clock before it belong to an earlier course.
    private var first: Int64 = 0
    /// `first` when the clock was last confirmed.
    private var confirmedFirst: Int64 = 0
    /// Ranges of times that the clock showed and that are now known to be wrong.
    private(set) var spans: [ClockSpan] = []

    /// - Parameter sinceBoot: `.max` if the reading is of an earlier boot whose time is not known.
    init(wall: Int64, sinceBoot: Int64) {
        self.wall = wall
        self.sinceBoot = sinceBoot
        reference = wall &- sinceBoot
        referenceAt = sinceBoot
    }

    var isConfirmed: Bool { abs(unconfirmedStep) <= Self.tolerance }

    /// Distance of the clock from the time it should show if it had not stepped since it was last confirmed.
    var unconfirmedStep: Int64 { shift - confirmedShift }

    /// The wall clock without its steps.
    var steady: Int64 { wall - shift }

    /// Continues the record of another process. If hardly any time has passed by the wall clock, the clock is accepted whatever the
    /// time since boot says: a backup may have been restored to another machine.
    mutating func resume(wall: Int64, sinceBoot: Int64) {
        guard (0...Self.tolerance).contains(wall - self.wall), sinceBoot >= self.sinceBoot,
            abs(wall - sinceBoot - reference) > Self.tolerance
        else { return }
        (self.wall, self.sinceBoot) = (wall, sinceBoot)
        (reference, referenceAt) = (wall - sinceBoot, sinceBoot)
    }

    /// Adds a reading.
    ///
    /// - Parameter confirmation: how long the clock has to keep pace to be confirmed.
    /// - Returns: the step of the clock; `nil` if it did not step.
    mutating func look(wall: Int64, sinceBoot: Int64, confirmation: Int64) -> Int64? {
        // A lower time since boot means that the machine was started again.
        let isSameBoot = sinceBoot >= self.sinceBoot
        let elapsed = isSameBoot ? sinceBoot - self.sinceBoot : 0
        let offset = wall - sinceBoot
        let moved = isSameBoot ? offset - reference : wall - self.wall
        let isStep = abs(moved) > Self.tolerance
        if isStep {
            if !isSameBoot, isConfirmed {
                freeze(at: wall, after: moved)
            } else {
                let last = self.wall + elapsed + (isSameBoot ? 0 : Self.unsaved)
                close(at: last, by: moved, next: wall - elapsed)
            }
            shift += moved
            consistentFor = 0
            if isConfirmed { first = min(first, confirmedFirst) }
        } else {
            consistentFor += elapsed
        }
        if isStep || !isSameBoot || sinceBoot - referenceAt >= confirmation {
            (reference, referenceAt) = (offset, sinceBoot)
        }
        (self.wall, self.sinceBoot) = (wall, sinceBoot)
        if !isConfirmed, consistentFor >= confirmation { confirm() }
        return isStep ? moved : nil
    }

    /// Confirms the clock as it is.
    mutating func confirm() {
        (confirmedShift, confirmedFirst) = (shift, first)
    }

    /// Returns the latest moment, by the clock as it is now, at which the clock can have shown `time`.
    func corrected(_ time: Int64) -> Int64 {
        spans.reduce(time) { max($0, $1.contains(time) ? time + $1.correction : time) }
    }

    /// Handles a step across a restart of the machine. Times that a confirmed clock showed before stay right: a step forward may be
    /// an absence, and after a step back the clock is wrong now.
    private mutating func freeze(at wall: Int64, after moved: Int64) {
        for index in spans.indices { spans[index].isFinal = true }
        if moved < 0 { first = wall }
        tidy()
    }

    /// Handles a step while the machine was on: times before and after it differ by the step, whichever are wrong.
    private mutating func close(at last: Int64, by moved: Int64, next: Int64) {
        for index in spans.indices where !spans[index].isFinal { spans[index].correction += moved }
        spans.append(ClockSpan(first: first, last: last, correction: moved))
        first = next
        for span in spans where !span.isFinal && abs(span.correction) <= Self.tolerance {
            first = min(first, span.first)
        }
        tidy()
    }

    /// Drops spans without error, joins those with the same error, and joins the oldest if there are too many.
    private mutating func tidy() {
        var joined: [ClockSpan] = []
        for span in spans where abs(span.correction) > Self.tolerance && !(span.isFinal && span.correction < 0) {
            let same = joined.firstIndex {
                $0.isFinal == span.isFinal && abs($0.correction - span.correction) <= Self.tolerance
            }
            if let same { joined[same].join(span) } else { joined.append(span) }
        }
        while joined.count > Self.maximumSpans {
            let oldest = joined.removeFirst()
            joined[0].join(oldest)
        }
        spans = joined
    }
}

/// A range of times that a clock showed, and by how much it was slow; negative where it was ahead.
struct ClockSpan: Codable, Sendable, Equatable {
    var first: Int64
    var last: Int64
    var correction: Int64
    /// Whether later steps leave the correction unchanged.
    var isFinal = false

    func contains(_ time: Int64) -> Bool { first <= time && time <= last }

    /// Extends the span to cover both, with the correction that gives the later times.
    mutating func join(_ other: ClockSpan) {
        self = ClockSpan(
            first: min(first, other.first), last: max(last, other.last),
            correction: max(correction, other.correction), isFinal: isFinal && other.isFinal)
    }
}
