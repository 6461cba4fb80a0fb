// Which content types are served as gRPC.
@testable internal import HTTP2Edge
internal import NIOHPACK
internal import Testing

struct ContentTypeTests {
    @Test(
        "a content type of protobuf messages is served, with parameters or without",
        arguments: [
            "application/grpc", "application/grpc+proto", "application/grpc; charset=utf-8",
            "application/grpc;charset=utf-8", "application/grpc ;a=b;c=d", "application/grpc;",
            "application/grpc+proto; charset=utf-8", "Application/GRPC", "APPLICATION/gRPC+Proto",
        ])
    func served(_ value: String) {
        var headers: HPACKHeaders = ["content-type": value, "te": "trailers"]
        ContentType.normalize(&headers)
        #expect(headers["content-type"] == ["application/grpc"])
        #expect(headers["te"] == ["trailers"])
    }

    @Test(
        "any other stays for the library to refuse",
        arguments: [
            "application/grpc-web", "application/grpc-web+proto; charset=utf-8",
            "application/grpcx", "application/grpc+json", "application/grpc+",
            "application/grp\u{212A}", ";",
            " application/grpc;", "application/json; application/grpc", "", "text/plain",
        ])
    func others(_ value: String) {
        var headers: HPACKHeaders = ["content-type": value]
        ContentType.normalize(&headers)
        #expect(headers["content-type"] == [value])
    }

    @Test("a call without a content type gets none")
    func missing() {
        var headers: HPACKHeaders = ["te": "trailers"]
        ContentType.normalize(&headers)
        #expect(headers == ["te": "trailers"])
    }
}
