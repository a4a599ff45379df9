import CAllocations
import PeerProto
import Proto

// Compares Wire with swift-protobuf on the same bytes, from and to `[UInt8]`; prints a line of JSON for each figure.

keep_freed_memory()

let objects = (0..<1000).map { index in
    DataObject(
        objectID: "018f5c1e-7a2b-7c3d-9e4f-\(100_000_000_000 + index)",
        fileID: "018f5c1e-7a2b-7c3d-8e4f-\(200_000_000_000 + index)", status: .verified,
        sizeBytes: Int64(index) * 67_108_864, createdAtUnix: 1_760_000_000 + Int64(index),
        uploadedAtUnix: 1_760_000_100 + Int64(index), verifiedAtUnix: 1_760_000_200 + Int64(index),
        etag: "\"9E107D9D372BB6826BD81D3542A419D6-\(index % 90 + 10)\"")
}
try Comparison(
    "ListObjectsResponse of 1000 objects", ListObjectsResponse(objects: objects, nextPageToken: "bmV4dA"),
    Archebase_DataGateway_V1_ListObjectsResponse.self, repetitions: 20
).run()

let tags = Dictionary(uniqueKeysWithValues: (0..<10).map { ("robot.sensor.\($0)", "value number \($0) of ten") })
try Comparison(
    "CompleteUploadRequest with 10 tags",
    CompleteUploadRequest(
        uploadID: "018f5c1e-7a2b-7c3d-9e4f-100000000000", fileSize: 201_326_592, rawTags: tags, completedPartCount: 3,
        ossObjectEtag: "\"9E107D9D372BB6826BD81D3542A419D6-3\"", partSizeBytes: 67_108_864),
    Archebase_DataGateway_V1_CompleteUploadRequest.self, repetitions: 5000
).run()

try Comparison(
    "ReadObjectResponse of 1 MiB", ReadObjectResponse(content: [UInt8](repeating: 0xA5, count: 1 << 20)),
    Archebase_DataGateway_V1_ReadObjectResponse.self, repetitions: 50
).run()
