// Header fields that the stack reads, each with edge-case values.

/// A name with its values.
struct FieldTable {
    let name: [UInt8]
    let values: [[UInt8]]

    private init(_ name: String, _ values: String...) {
        self.name = Array(name.utf8)
        self.values = (values + Self.common).map { Array($0.utf8) }
    }

    /// The field that a byte selects.
    static func entry(_ byte: UInt8) -> FieldTable { Self.all[Int(byte & 0x3f) % Self.all.count] }

    /// Values for any field.
    private static let common = [
        "", "0", "-1", "%", "%zz", " ", ",", "\u{0}", "\u{e9}", "a\r\nb: c",
        String(repeating: "x", count: 300), String(repeating: "y", count: 9000),
    ]

    private static let all = [
        FieldTable(":method", "POST", "GET", "CONNECT", "OPTIONS"),
        FieldTable(
            ":path", "/sightline.v1.TrackingService/StreamEvents", "/grpc.health.v1.Health/Watch",
            "/a/b", "a/b", "/", "//", "/a/", "/a/b/c", "*"),
        FieldTable(":scheme", "http", "https", "ftp"),
        FieldTable(":authority", "localhost", "[::1]:1", "a:b"),
        FieldTable(":status", "200", "100"),
        FieldTable(":protocol", "websocket"),
        FieldTable(":unknown", "a"),
        FieldTable(
            "content-type", "application/grpc", "application/grpc+proto", "application/grpc+json",
            "application/grpc;a=b", "application/json"),
        FieldTable("te", "trailers", "gzip"),
        FieldTable(
            "grpc-timeout", "1S", "-1S", "0n", "1n", "1m", "1u", "1M", "1H", "99999999n",
            "99999999H", "100000000S", "+1S", "S", "1", "1s", "-99999999H",
            "9223372036854775807H", "1SS", "１S"),
        FieldTable("grpc-encoding", "identity", "gzip", "deflate", "snappy", "gzip,gzip"),
        FieldTable(
            "grpc-accept-encoding", "identity,deflate,gzip", "gzip", "deflate", "none", "gzip,"),
        FieldTable("grpc-message-type", "sightline.v1.StreamEventsRequest"),
        FieldTable("grpc-status", "0", "17", "99"),
        FieldTable("grpc-message", "%C3%28", "%e4"),
        FieldTable("grpc-status-details-bin", "CAM=", "CAM", "!", "AA,AA"),
        FieldTable("grpc-previous-rpc-attempts", "1", "99999999999999999999"),
        FieldTable("grpc-retry-pushback-ms", "1"),
        FieldTable("grpc-trace-bin", "AAA", "AA=A", "A"),
        FieldTable("grpc-tags-bin", "AA=="),
        FieldTable("grpc-internal-encoding-request", "gzip"),
        FieldTable("grpc-server-stats-bin", "AA"),
        FieldTable("custom-bin", "AA==", "A", "AA", "AAA,BB", "===="),
        FieldTable("custom", "a"),
        FieldTable("Upper", "a"),
        FieldTable("", "a"),
        FieldTable("authorization", "Bearer a", "Bearer a.b.c", "Basic a"),
        FieldTable("x-api-key", "a"),
        FieldTable(
            "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01"),
        FieldTable("tracestate", "a=b", "a=b,a=b"),
        FieldTable("baggage", "a=b;c,d=e", "=,;"),
        FieldTable("content-length", "10", "5", "18446744073709551616"),
        FieldTable("transfer-encoding", "chunked"),
        FieldTable("connection", "close", "te"),
        FieldTable("user-agent", "grpc-go/1.60"),
        FieldTable("host", "a"),
        FieldTable("cookie", "a=b"),
        FieldTable("expect", "100-continue"),
    ]
}

/// The headers of well-formed calls.
enum CallFields {
    private static let methods = [
        "sightline.v1.TrackingService/StreamEvents", "sightline.v1.TrackingService/RecordEvents",
        "sightline.v1.TrackingService/ExplainEvents",
        "sightline.v1.TrackingService/InspectPayload", "grpc.health.v1.Health/Check",
        "grpc.health.v1.Health/Watch", "grpc.health.v1.Health/List",
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "sightline.v1.TrackingService/Unknown", "a/b",
    ]
    private static let blocks = Self.methods.map { method in
        [
            (":method", "POST"), (":path", "/" + method), (":scheme", "http"),
            ("content-type", "application/grpc"), ("te", "trailers"),
        ].flatMap { Wire.field(Array($0.0.utf8), Array($0.1.utf8)) }
    }

    /// The headers of a call of the method that a byte selects.
    static func block(method: UInt8) -> [UInt8] { Self.blocks[Int(method) % Self.blocks.count] }
}
