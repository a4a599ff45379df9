import HTTPTypes
import XML

extension S3Dialect {
    package func name(of code: StoreError.Code) -> String { code.s3.name }

    package func status(of code: StoreError.Code) -> Int { code.s3.status }

    /// S3's clients go by the status alone.
    package func fields(insteadOf document: FlatXML) -> HTTPFields { [:] }

    package func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields {
        guard let checksum else { return [:] }
        return [checksum.algorithm.field: checksum.value, "x-amz-checksum-type": checksum.kind.rawValue]
    }

    /// A client that asked for it compares what it received; so it is not told with a part.
    package func fields(
        ofObject crc64: UInt64, _ checksum: Checksum?, isMultipart: Bool, whole: Bool, asked: HTTPFields
    ) -> HTTPFields {
        guard whole, asked["x-amz-checksum-mode"]?.uppercased() == "ENABLED" else { return [:] }
        return fields(ofStored: crc64, checksum)
    }

    package func fields(ofKept kept: KeptFields, size: Int64) -> HTTPFields {
        let tags = kept.tags.tags.count
        return tags == 0 ? [:] : ["x-amz-tagging-count": String(tags)]
    }

    package func fields(ofInitiated checksum: MultipartChecksum?) -> HTTPFields {
        guard let checksum else { return [:] }
        return [
            "x-amz-checksum-algorithm": checksum.algorithm.rawValue, "x-amz-checksum-type": checksum.kind.rawValue,
        ]
    }

    package func elements(ofCompleted checksum: Checksum?) -> [FlatXML.Element] {
        guard let checksum else { return [] }
        return [
            FlatXML.Element(checksum.algorithm.element, checksum.value),
            FlatXML.Element("ChecksumType", checksum.kind.rawValue),
        ]
    }

    package func elements(ofPart crc64: UInt64, _ checksum: Checksum?) -> [FlatXML.Element] {
        checksum.map { [FlatXML.Element($0.algorithm.element, $0.value)] } ?? []
    }
}

extension Checksum {
    var kind: MultipartChecksum.Kind { partCount == 0 ? .fullObject : .composite }
}
