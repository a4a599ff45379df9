import Basics
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import CommandLineInterface

@Suite(.timeLimited) struct ProgressTests {
    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1_234_567, "1.18 MiB"), (12_345_678, "11.8 MiB"),
        (1_048_063, "1023 KiB"), (1_048_064, "1.00 MiB"), (5_368_709_120, "5.00 GiB"), (Int64.max, "8192 PiB"),
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
        // Without progress, the rate falls and the remaining time grows.
        #expect(try #require(meter.rate(at: .seconds(70))) < 60)
    }

    /// The bar is drawn by a task of its own.
    @Test func linesStandInPlaceOfTheBar() throws {
        let written = Lock<[String]>([])
        let write: @Sendable (String) -> Void = { text in
            written.withLock { $0.append(text) }
            // The other thread gets its chance between two writes.
            usleep(0)
        }
        var environment = CommandEnvironment(
            variables: [:], clock: SystemClock(), output: { (line) throws(ClientFailure) in write(line) },
            errorOutput: write)
        environment.terminal = write
        let reporter = TransferReporter(environment, asJSON: false)
        reporter.begin("a", name: "a", total: 10, done: 0)
        let drawing = TestThread { for _ in 0..<2000 { reporter.show() } }
        for _ in 0..<2000 { reporter.line("line") }
        try drawing.join()
        let all = written.withLock { $0 }
        #expect(all.count { $0.contains("[....") } == 2000)
        let places = all.indices.filter { all[$0] == "line" }
        #expect(places.count == 2000 && places.allSatisfy { $0 > 0 && all[$0 - 1] == "\r\u{1B}[2K" })
    }

    @Test func bytesThatWereThereBeforeAreNoRate() {
        var meter = TransferMeter(total: 200, done: 100, at: .zero)
        #expect(meter.rate(at: .seconds(1)) == 0)
        #expect(meter.secondsLeft(at: .seconds(1)) == nil)
        meter.add(50, at: .seconds(1))
        #expect(meter.rate(at: .seconds(1)) == 50)
        #expect(meter.secondsLeft(at: .seconds(1)) == 1)
        // A part was aborted.
        meter.add(-100, at: .seconds(2))
        #expect(meter.rate(at: .seconds(2)) == 0)
    }

    @Test func lineShowsBytesRateAndTimeLeft() {
        var meter = TransferMeter(total: 4 << 20, at: .zero)
        meter.add(1 << 20, at: .seconds(1))
        #expect(
            ProgressLine.text("drive.mcap", meter, at: .seconds(1))
                == "drive.mcap  [###.........]   25%  1.00 MiB/4.00 MiB  1.00 MiB/s  0:03 left")
        let long = ProgressLine.text(String(repeating: "n", count: 200) + ".mcap", meter, at: .seconds(1))
        #expect(long.count == 79)
        #expect(long.contains("n.mcap  ["))
        #expect(
            ProgressLine.text("x", TransferMeter(total: 0, at: .zero), at: .zero)
                == "x  [############]  100%  0 B/0 B")
        #expect(ProgressLine.text("x", TransferMeter(total: nil, done: 5, at: .zero), at: .zero) == "x  5 B")
    }

    @Test(arguments: [120, 80, 60, 40, 30])
    func prefixIsNotShortenedBeforeTheName(columns: Int) {
        var meter = TransferMeter(total: 4 << 20, at: .zero)
        meter.add(1 << 20, at: .seconds(1))
        for name in ["tt2.bin", String(repeating: "n", count: 200) + ".mcap"] {
            let line = ProgressLine.text(name, meter, prefix: "trying again: ", at: .seconds(1), width: columns - 1)
            #expect(line.count <= columns - 1)
            #expect(line.hasPrefix(name == "tt2.bin" ? "trying again: tt2.bin  " : "trying again: …"))
            #expect(line.contains(" 25%"))
        }
        #expect(
            ProgressLine.text("tt2.bin", meter, prefix: "trying again: ", at: .seconds(1))
                == "trying again: tt2.bin  [###.........]   25%  1.00 MiB/4.00 MiB")
        let narrow = ProgressLine.text("tt2.bin", meter, prefix: "trying again: ", at: .seconds(1), width: 15)
        #expect(narrow == "tt2.bin   25%")
    }

    @Test(arguments: [(7, "0:07"), (754, "12:34"), (3723, "1:02:03")] as [(Int64, String)])
    func timeLeftIsShownAsAClock(seconds: Int64, text: String) {
        #expect(ProgressLine.clock(seconds) == text)
    }
}
