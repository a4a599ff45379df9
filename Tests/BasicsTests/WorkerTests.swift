import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct WorkerTests {
    private struct Refusal: Error, Equatable {}

    private static let workers = [Worker.serial("tests"), Worker.pool("tests"), Worker.thread("tests")]

    @Test(arguments: workers) func runReturnsTheResultOfTheWork(worker: Worker) async {
        #expect(await worker.run { 1 } == 1)
    }

    @Test(arguments: workers) func runThrowsTheErrorOfTheWork(worker: Worker) async {
        await #expect(throws: Refusal()) {
            try await worker.run { () throws(Refusal) -> Int in throw Refusal() }
        }
    }

    @Test func serialWorkerKeepsTheOrderOfItsWork() async {
        let worker = Worker.serial("tests")
        let numbers = Lock<[Int]>([])
        for number in 0..<100 { worker.post { numbers.withLock { $0.append(number) } } }
        #expect(await worker.run { numbers.withLock { $0 } } == Array(0..<100))
    }

    @Test func poolRunsFurtherWorkWhileSomeWaits() async {
        let worker = Worker.pool("tests")
        let further = DispatchSemaphore(value: 0)
        async let first = worker.run { further.wait(timeout: .now() + .seconds(60)) }
        await worker.run { _ = further.signal() }
        #expect(await first == .success)
    }

    @Test func threadOfItsOwnHasTheNameOfTheWorker() async {
        let name = await Worker.thread("a worker of tests").run { Thread.current.name }
        #expect(name == "a worker of tes")
    }

    @Test func workRunsWithoutAThreadOfItsOwn() async {
        // More address space than the system has for a stack.
        #expect(await Worker.thread("tests", stackSize: 1 << 60).run { 1 } == 1)
    }

    @Test(arguments: workers.dropLast()) func drainReturnsAfterTheWorkBefore(worker: Worker) async {
        let count = Lock(0)
        for _ in 0..<8 { worker.post { count.withLock { $0 += 1 } } }
        await Worker.thread("tests").run { worker.drain() }
        #expect(count.withLock { $0 } == 8)
    }
}
