import Crypto
import TestSupport
import Testing

@Suite(.timeLimited) struct SealedValuesTests {
    private let values = SealedValues(key: Random.bytes(32))
    private let owner = Array("users/1".utf8)

    @Test(arguments: [0, 1, 1000])
    func valuesAreOpenedForTheirOwnerOnly(_ count: Int) {
        let plain = Random.bytes(count)
        let sealed = values.seal(plain, of: owner)
        #expect(values.open(sealed, of: owner) == plain)
        #expect(values.open(sealed, of: Array("users/2".utf8)) == nil)
        #expect(SealedValues(key: Random.bytes(32)).open(sealed, of: owner) == nil)
        #expect(values.seal(plain, of: owner) != sealed)
    }

    @Test func changedAndShortenedBytesAreRefused() {
        let sealed = values.seal([1, 2, 3], of: owner)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(values.open(changed, of: owner) == nil)
            #expect(values.open(Array(sealed[..<index]), of: owner) == nil)
        }
    }
}
