import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore

/// Direct and buffered writes of one file must not share a page, whatever the page size.
@Suite(.timeLimited) struct PageSharingTests {
    private struct Written {
        var direct: Set<Int64> = []
        var buffered: Set<Int64> = []
    }

    /// Returns the pages that parts of these lengths are written to, divided like in ``BodyPipeline``.
    private func pages(partSize: Int64, lengths: [Int64], pageSize: Int64, alignment: Int) -> Written {
        var written = Written()
        for (index, length) in lengths.enumerated() {
            let start = Int64(index) * partSize
            let tail = start + length / Int64(AlignedBlock.size) * Int64(AlignedBlock.size)
            let isDirect = DirectoryEngine.canWriteDirectly(at: start, alignment: alignment)
            if tail > start {
                let blocks = start / pageSize...(tail - 1) / pageSize
                if isDirect { written.direct.formUnion(blocks) } else { written.buffered.formUnion(blocks) }
            }
            if start + length > tail { written.buffered.formUnion(tail / pageSize...(start + length - 1) / pageSize) }
        }
        return written
    }

    private func isShared(partSize: Int64, pageSize: Int64, alignment: Int) -> Bool {
        let lengths = (0..<32).map { partSize - ($0 % 3 == 2 ? 5000 : 0) }
        let written = pages(partSize: partSize, lengths: lengths, pageSize: pageSize, alignment: alignment)
        return !written.direct.isDisjoint(with: written.buffered)
    }

    private static let partSizes: [Int64] = [
        65_536, 69_632, 1 << 20, 1 << 20 + 4096, 3 << 20 + 61_440, 5_242_880, 16_777_216 - 4096,
    ]

    @Test(arguments: partSizes, [4096, 16_384, 65_536])
    func noPageIsShared(partSize: Int64, pageSize: Int) {
        let alignment = AlignedBlock.requiredAlignment(pageSize: pageSize)
        #expect(!isShared(partSize: partSize, pageSize: Int64(pageSize), alignment: alignment))
    }

    /// The case that requires the rule: 4096 alone is not enough.
    @Test func multiplesOf4096AloneWouldShareLargerPages() {
        #expect(isShared(partSize: 3 << 20 + 61_440, pageSize: 65_536, alignment: 4096))
    }

    @Test func nothingChangesWherePagesHave4KiB() {
        #expect(AlignedBlock.requiredAlignment(pageSize: 4096) == 4096)
        #expect(AlignedBlock.size.isMultiple(of: AlignedBlock.requiredAlignment(pageSize: 65_536)))
    }
}
