import Basics
import GRPCWire

/// The way of the call to its handler.
extension ServerCall {
    /// Lets the handler start in the call's turn; it sends its messages, and its return or error ends the call.
    func becomeReady() {
        assertCurrent()
        if stage.becomeReady(), let lane { queue(in: lane) }
    }

    func queue(in lane: Lane) {
        if stage.queue(in: lane) { origin.countHandler(of: self, by: 1) }
        origin.queue(self, in: lane)
    }

    /// Whether the call will be refused in its turn, for there is no place for it.
    var isRefused: Bool { stage.refusal != nil }

    /// Lets the call wait for its turn once more; it has not begun, and counts as queued.
    func queueAgain() { lane?.run(self) }

    /// Whether the call, whose turn it is, may begin now. If not, it is queued again later.
    func mayBegin() -> Bool { origin.mayBegin(self) }

    /// Admits the call, unless that was done, and runs the handler if it is ready, unless the call has ended meanwhile.
    nonisolated(nonsending) func proceed(in task: HandlerTask) async {
        assertCurrent()
        stage.takeTurn()
        if let refusal = stage.refusal { fail(refusal) }
        // In one function, because the frames of nested ones would not fit into what a task allocates once.
        if stage.isUnknown {
            stage.work(in: task)
            do {
                if method.rules.needsAdmission { try await server.admission?.admit(context) }
                stage.admit()
                if isOpen { admitted() }
            } catch {
                // The task has done nothing that would have to be cancelled, and can be kept.
                stage.workEnded()
                fail(error)
            }
        }
        // Not earlier: nothing else limits the number of calls that wait to be admitted.
        origin.left(self)
        if stage.isAdmitted {
            stage.work(in: task)
            if context.workOwner != nil, let other = origin.otherLane(toRun: context, admittedIn: lane) {
                return queue(in: other)
            }
            decodeReceived()
            if stage.beginsNow {
                guard takePlace() else { return queue(in: lane ?? origin.lane) }
                do {
                    try await handle()
                    stage.workEnded()
                    succeed()
                } catch {
                    stage.workEnded()
                    fail(error)
                }
            }
        }
        origin.countHandler(of: self, by: -1)
        stage.leaveTurn()?.leave(origin, address)
    }

    /// Counts the call among those in progress. Only when its handler begins: calls of unknown callers and those that wait for their
    /// turn would otherwise leave no places to others.
    ///
    /// - Returns: whether there is a place; otherwise the call will be refused.
    private func takePlace() -> Bool {
        do throws(CallPlace.Refusal) {
            stage.begin(try CallPlace(waits: method.rules.waits, at: origin, of: address))
        } catch {
            server.metrics.limitReached(error.limit)
            stage.refuse(RPCError.overloaded(error.message))
            return false
        }
        if method.rules.waits { limitWaiting() }
        return true
    }

    /// Schedules the orderly end of a waiting call, unless its client set an earlier deadline.
    private func limitWaiting() {
        let end = origin.loop.now &+ server.limits.waiting.lifetime.loopTime
        if let deadline = context.deadline, deadline <= end { return }
        timer?.cancel()
        timer = origin.loop.schedule(at: end) { [self] in endWaiting() }
    }

    private func endWaiting() {
        let task = stage.task
        succeed()
        cancel()
        task?.cancel()
    }

    // MARK: The server's end

    /// Lets the call end soon because the server stops. Calls of waiting methods end at once, and in order if their handlers have begun.
    func stop() {
        assertCurrent()
        guard isOpen else { return }
        usage.progress = usage.progress ?? ProgressWatch(at: origin.loop.now)
        guard method.rules.waits else { return }
        if isQueued { fail(Self.stopping) } else { endWaiting() }
    }

    /// Whether the request is complete, and the handler has not begun.
    private var isQueued: Bool {
        // A complete request may still have to be decoded.
        (stage.isReady || intake.hasEnded) && !stage.isRunning
    }

    /// Ends the call if its handler has not begun, while the server stops.
    func endIfQueued() {
        assertCurrent()
        if isOpen, isQueued { fail(Self.stopping) }
    }

    /// Ends the call if it waits for its client without progress, while the server stops.
    func endIfIdle(at now: UInt64) {
        assertCurrent()
        guard isOpen else { return }
        var watch = usage.progress ?? ProgressWatch(at: now)
        defer { usage.progress = watch }
        // A call whose handler works counts as one that makes progress.
        let traffic = usage.traffic
        let mark = waitsForClient ? traffic.bytesReceived &+ traffic.bytesSent &- unsentBytes : -1
        if watch.isIdle(mark, at: now), waitsForClient { fail(Self.stopping) }
    }

    private static var stopping: RPCError { RPCError(bare: .unavailable, "the gateway is stopping: try again") }
}
