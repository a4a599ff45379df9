import TestSupport
import Testing

@testable import RPC

@Suite(.timeLimited) struct ServingStateTests {
    @Test func aWatchHearsOfTheEndAndEnds() async {
        let state = ServingState()
        var watch = state.changes().makeAsyncIterator()
        #expect(await watch.next() == true)
        state.end()
        #expect(await watch.next() == false)
        #expect(await watch.next() == nil)
    }

    @Test func aWatchThatBeginsAfterTheEndHearsOfIt() async {
        let state = ServingState()
        state.end()
        var watch = state.changes().makeAsyncIterator()
        #expect(await watch.next() == false)
        #expect(await watch.next() == nil)
    }

    /// For example, the database accepts no writes any more, but the process is alive.
    @Test func watchGoesOnAfterServingStops() async {
        let state = ServingState()
        state.stopServing()
        var watch = state.changes().makeAsyncIterator()
        #expect(await watch.next() == false)
        state.end()
        #expect(await watch.next() == false)
        #expect(await watch.next() == nil)
    }
}
