import HTTPTypes
import XML

extension S3Dialect {
    func name(of code: StoreError.Code) -> String { code.s3.name }

    func status(of code: StoreError.Code) -> Int { code.s3.status }

    /// S3's clients go by the status alone.
    func fields(insteadOf document: FlatXML) -> HTTPFields { [:] }

    func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields {
        guard let checksum else { return [:] }
        return [checksum.algorithm.field: checksum.value, "x-amz-checksum-type": checksum.kind.rawValue]
    }

    /// A client that asked for it compares what it received; so it is not told with a part.
    func fields(of object: StoredObject, whole: Bool, asked: HTTPFields) -> HTTPFields {
        guard whole, asked["x-amz-checksum-mode"]?.uppercased() == "ENABLED" else { return [:] }
        return fields(ofStored: object.crc64, object.checksum)
    }

    func fields(ofInitiated multipart: MultipartRecord) -> HTTPFields {
        guard let checksum = multipart.checksum else { return [:] }
        return [
            "x-amz-checksum-algorithm": checksum.algorithm.rawValue, "x-amz-checksum-type": checksum.kind.rawValue,
        ]
    }

    func elements(ofCompleted object: StoredObject) -> [FlatXML.Element] {
        guard let checksum = object.checksum else { return [] }
        return [
            FlatXML.Element(checksum.algorithm.element, checksum.value),
            FlatXML.Element("ChecksumType", checksum.kind.rawValue),
        ]
    }

    func elements(of part: PartRecord) -> [FlatXML.Element] {
        part.checksum.map { [FlatXML.Element($0.algorithm.element, $0.value)] } ?? []
    }
}

extension Checksum {
    var kind: MultipartChecksum.Kind { partCount == 0 ? .fullObject : .composite }
}
