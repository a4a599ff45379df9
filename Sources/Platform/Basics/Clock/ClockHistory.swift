/// What was seen of a wall clock beside a count that nobody sets, and what follows for times that were taken from it.
///
/// Both move alike while the clock is right. Where the clock moves by more than a day against the count, it *stepped*: it
/// was wrong before, or is wrong now. It is confirmed by moving alike for long enough, by an operator, or by stepping back
/// to where it was. A machine that was off for more than a day looks like a step, too: the count begins anew with the
/// machine, and the clock is all that tells how long it was off.
///
/// Pure state: clocks are read by ``ClockGuard``. All times and durations are microseconds. `Codable`, to be kept across
/// restarts.
struct ClockHistory: Codable, Sendable, Equatable {
    /// Smaller differences are believed: corrections of a time service, leap seconds, a restart of the machine.
    static let tolerance: Int64 = 86_400_000_000
    /// How much later than the last saved look a time may have been taken before the machine went down.
    private static let unsaved: Int64 = 3_600_000_000
    private static let maximumSpans = 64

    /// The clock at the last look.
    private(set) var wall: Int64
    /// The count at the last look.
    private(set) var sinceBoot: Int64
    /// The difference of both that later looks are compared with, and the count when it was taken. Taken again after each
    /// time that confirms a clock, so that a clock may drift, and not walk away in small steps.
    private var reference: Int64
    private var referenceAt: Int64
    /// All steps since the first look, added up: what the steady time lags behind the clock.
    private(set) var shift: Int64 = 0
    /// `shift` when the clock was last confirmed.
    private var confirmedShift: Int64 = 0
    /// How long the clock has moved like the count, since it stepped.
    private(set) var consistentFor: Int64 = 0
    /// Since which time of its own the clock has gone as it does.
    private var first: Int64 = 0
    /// `first` when the clock was last confirmed.
    private var confirmedFirst: Int64 = 0
    /// Times that the clock showed and that were wrong by what is known now.
    private(set) var spans: [ClockSpan] = []

    /// - Parameter sinceBoot: `.max` where the time is an earlier start's, and its count is not known.
    init(wall: Int64, sinceBoot: Int64) {
        self.wall = wall
        self.sinceBoot = sinceBoot
        reference = wall &- sinceBoot
        referenceAt = sinceBoot
    }

    var isConfirmed: Bool { abs(unconfirmedStep) <= Self.tolerance }

    /// How far the clock is from where it was when it was last confirmed.
    var unconfirmedStep: Int64 { shift - confirmedShift }

    /// The time that goes on as before where the clock steps.
    var steady: Int64 { wall - shift }

    /// Goes on with what another process saw. Where hardly any time has passed by the clock it is believed, whatever the count
    /// says: it may be another machine's, to which a backup was restored.
    mutating func resume(wall: Int64, sinceBoot: Int64) {
        guard (0...Self.tolerance).contains(wall - self.wall), sinceBoot >= self.sinceBoot,
            abs(wall - sinceBoot - reference) > Self.tolerance
        else { return }
        (self.wall, self.sinceBoot) = (wall, sinceBoot)
        (reference, referenceAt) = (wall - sinceBoot, sinceBoot)
    }

    /// - Parameter confirmation: how long a clock has to move like the count until it is believed.
    /// - Returns: by how much the clock stepped; `nil` where it did not.
    mutating func look(wall: Int64, sinceBoot: Int64, confirmation: Int64) -> Int64? {
        // A count that is lower began anew.
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

    /// Believes the clock as it is.
    mutating func confirm() {
        (confirmedShift, confirmedFirst) = (shift, first)
    }

    /// The latest that a time of this clock can have been taken, by the clock as it is now.
    func corrected(_ time: Int64) -> Int64 {
        spans.reduce(time) { max($0, $1.contains(time) ? time + $1.correction : time) }
    }

    /// After the machine was off. What a confirmed clock showed before stays right: a step forward may be an absence, and
    /// after a step back it is the clock now that is wrong.
    private mutating func freeze(at wall: Int64, after moved: Int64) {
        for index in spans.indices { spans[index].isFinal = true }
        if moved < 0 { first = wall }
        tidy()
    }

    /// While the machine was on, times from before and after the step differ by it, whichever are wrong.
    private mutating func close(at last: Int64, by moved: Int64, next: Int64) {
        for index in spans.indices where !spans[index].isFinal { spans[index].correction += moved }
        spans.append(ClockSpan(first: first, last: last, correction: moved))
        first = next
        for span in spans where !span.isFinal && abs(span.correction) <= Self.tolerance {
            first = min(first, span.first)
        }
        tidy()
    }

    /// Drops spans that are right as they are, and joins those that are wrong by the same; of too many the oldest.
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
    /// Later steps say nothing about it.
    var isFinal = false

    func contains(_ time: Int64) -> Bool { first <= time && time <= last }

    /// Covers both, by the correction that makes times later.
    mutating func join(_ other: ClockSpan) {
        self = ClockSpan(
            first: min(first, other.first), last: max(last, other.last),
            correction: max(correction, other.correction), isFinal: isFinal && other.isFinal)
    }
}
