package import HTTPTypes
package import XML

extension S3Dialect {
    package func name(of code: StoreError.Code) -> String { code.s3.name }

    package func status(of code: StoreError.Code) -> Int { code.s3.status }

    /// Returns no fields, because S3 clients only use the status.
    package func fields(insteadOf document: FlatXML) -> HTTPFields { [:] }

    package func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields {
        checksum.map { Self.fields($0, kind: $0.kind) } ?? [:]
    }

    /// Returns the checksum of the sent bytes if the client asked for it.
    package func fields(
        ofObject crc64: UInt64, sent checksum: Checksum?, kind: MultipartChecksum.Kind?, isMultipart: Bool,
        requestFields: HTTPFields
    ) -> HTTPFields {
        guard requestFields["x-amz-checksum-mode"]?.uppercased() == "ENABLED", let checksum, let kind else {
            return [:]
        }
        return Self.fields(checksum, kind: kind)
    }

    private static func fields(_ checksum: Checksum, kind: MultipartChecksum.Kind) -> HTTPFields {
        [checksum.algorithm.field: checksum.value, "x-amz-checksum-type": kind.rawValue]
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

    package func elements(ofUpload checksum: MultipartChecksum?) -> [FlatXML.Element] {
        guard let checksum else { return [] }
        return [
            FlatXML.Element("ChecksumAlgorithm", checksum.algorithm.rawValue),
            FlatXML.Element("ChecksumType", checksum.kind.rawValue),
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
