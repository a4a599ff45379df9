import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct SignalTests {
    private let signal = Signal()
    private let executor = SerialTaskExecutor()

    @Test func notificationBeforeTheWaitEndsIt() async {
        let notified = signal.count
        signal.notify()
        await signal.wait(after: notified)
        #expect(signal.count == notified + 1)
    }

    @Test func notificationWakesEveryWaiter() async {
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask(executorPreference: executor) { [signal] in
                    await signal.wait(after: 0)
                    return signal.count
                }
            }
            // Each of them is waiting by now.
            group.addTask(executorPreference: executor) { [signal] in
                signal.notify()
                return signal.count
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 1, count: 9))
    }

    @Test func cancelledTaskEndsItsWait() async {
        let task = Task(executorPreference: executor) { [signal] in
            await signal.wait(after: 0)
            return Task.isCancelled
        }
        // It is waiting by now.
        await Task(executorPreference: executor) { task.cancel() }.value
        #expect(await task.value)
        #expect(signal.count == 0)
    }

    @Test func endedWaitWakesNobodyElse() async {
        let notified = signal.count
        await signal.wait(after: notified, atMost: .milliseconds(1))
        #expect(signal.count == notified)
    }

    /// Also a wait whose notification came first: its time limit has to end with it.
    @Test func notificationEndsOneWaitAndNoLaterOne() async {
        for _ in 1...100 {
            let notified = signal.count
            let task = Task { await signal.wait(after: notified, atMost: .seconds(3600)) }
            signal.notify()
            await task.value
        }
        #expect(signal.count == 100)
    }
}
