import TestSupport
import Testing

@testable import CommandLineInterface

@Suite(.timeLimited) struct ProgressTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1_234_567, "1.23 MB"), (12_345_678, "12.3 MB"),
        (999_499_999, "999 MB"), (999_500_000, "1.00 GB"), (5_368_709_120, "5.37 GB"), (Int64.max, "9223 PB"),
    ])
    func bytesAreShownInBinaryUnits(count: Int64, text: String) {
        #expect(ByteCount.text(count) == text)
    }

    @Test func theRateIsThatOfTheLastSeconds() throws {
        var meter = TransferMeter(total: 10_000, at: .zero)
        #expect(meter.rate(at: .milliseconds(100)) == nil)
        for second in 1...20 as ClosedRange<Int64> { meter.set(100 * second, at: .seconds(second)) }
        #expect(try #require(meter.rate(at: .seconds(20))) == 100)
        #expect(meter.secondsLeft(at: .seconds(20)) == 80)
        for second in 21...40 as ClosedRange<Int64> { meter.set(2000 + 200 * (second - 20), at: .seconds(second)) }
        #expect(try #require(meter.rate(at: .seconds(40))) == 200)
        #expect(meter.secondsLeft(at: .seconds(40)) == 20)
        // Nothing moves: the rate falls, and the time left grows.
        #expect(try #require(meter.rate(at: .seconds(70))) < 60)
    }

    @Test func bytesThatWereThereBeforeAreNoRate() {
        var meter = TransferMeter(total: 200, done: 100, at: .zero)
        #expect(meter.rate(at: .seconds(1)) == 0)
        #expect(meter.secondsLeft(at: .seconds(1)) == nil)
        meter.add(50, at: .seconds(1))
        #expect(meter.rate(at: .seconds(1)) == 50)
        #expect(meter.secondsLeft(at: .seconds(1)) == 1)
        // A part that broke off.
        meter.add(-100, at: .seconds(2))
        #expect(meter.rate(at: .seconds(2)) == 0)
    }

    @Test func lineShowsBytesRateAndTimeLeft() {
        var meter = TransferMeter(total: 4_000_000, at: .zero)
        meter.add(1_000_000, at: .seconds(1))
        #expect(
            ProgressLine.text("drive.mcap", meter, at: .seconds(1))
                == "drive.mcap  [#####...............]   25%  1.00 MB/4.00 MB  1.00 MB/s  0:03 left")
        let long = ProgressLine.text(String(repeating: "n", count: 200) + ".mcap", meter, at: .seconds(1))
        #expect(long.count == 79)
        #expect(long.contains("n.mcap  ["))
        #expect(
            ProgressLine.text("x", TransferMeter(total: 0, at: .zero), at: .zero)
                == "x  [####################]  100%  0 B/0 B")
        #expect(ProgressLine.text("x", TransferMeter(total: nil, done: 5, at: .zero), at: .zero) == "x  5 B")
    }

    @Test(arguments: [(7, "0:07"), (754, "12:34"), (3723, "1:02:03")] as [(Int64, String)])
    func timeLeftIsShownAsAClock(seconds: Int64, text: String) {
        #expect(ProgressLine.clock(seconds) == text)
    }
}
