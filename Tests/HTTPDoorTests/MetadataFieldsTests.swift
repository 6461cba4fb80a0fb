internal import GRPCCore
internal import HTTPTypes
internal import HTTPDoor
internal import Testing

struct MetadataFieldsTests {
    @Test("what a call has to know of a request passes, and nothing else")
    func fields() throws {
        var headers: HTTPFields = [
            .authorization: "Bearer x", .userAgent: "curl", .cookie: "a=b", .contentType: "text",
        ]
        for (name, value) in [
            ("X-Api-Key", "k"), ("traceparent", "t"), ("tracestate", "s"), ("Grpc-Timeout", "1S"),
            ("sightline-call", "1"), ("grpc-encoding", "gzip"), ("tracestate", "u"),
        ] {
            headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let metadata = Metadata(of: headers)
        #expect(
            Set(metadata.map { "\($0.key)=\($0.value.encoded())" }) == [
                "authorization=Bearer x", "user-agent=curl", "x-api-key=k", "traceparent=t",
                "tracestate=s", "tracestate=u", "grpc-timeout=1S",
            ])
    }
}
