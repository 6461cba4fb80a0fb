// The query of a call by GET.
@testable internal import HTTPDoor
internal import NIOCore
internal import Testing

struct ConnectQueryTests {
    private func message(_ query: String) throws -> String {
        String(buffer: try ConnectQuery(query).decoded(maxBytes: ConnectMethod.maxTextBytes))
    }

    @Test(
        "a message comes in percent-encoding, or in base64 of either alphabet",
        arguments: [
            ("message=%7B%7d&encoding=json", "{}"), ("encoding=json&message={}", "{}"),
            ("message=a+b%2Bc", "a b+c"), ("message=", ""), ("message", ""),
            ("message=e30&base64=1", "{}"), ("message=e30%3D&base64=1", "{}"),
            ("message=fn5-&base64=1", "~~~"), ("message=fn5%2B&base64=1", "~~~"),
            ("connect=v1&message=a=b&other=c&&", "a=b"),
        ])
    func messages(_ query: String, _ message: String) throws {
        #expect(try self.message(query) == message)
    }

    @Test(
        "what is damaged, unknown or there twice is refused",
        arguments: [
            "", "encoding=json", "message=%", "message=%7", "message=%zz", "message=%+1",
            "message=a&message=a", "message=a&connect=v2", "message=a&connect=",
            "message=a&base64=0", "message=a&base64=", "message=a&base64=1",
            "message=e30==&base64=1",
            "message=a&compression=br",
        ])
    func refused(_ query: String) {
        #expect(throws: ConnectRefusal.self) { try self.message(query) }
    }

    @Test("a query has 8 KiB at most")
    func length() throws {
        let text = "message=" + String(repeating: "a", count: ConnectQuery.maxBytes - 8)
        #expect(try self.message(text).utf8.count == ConnectQuery.maxBytes - 8)
        #expect {
            try ConnectQuery(text + "a")
        } throws: { error in
            (error as? ConnectRefusal)?.reason == .requestTooLarge
        }
    }

    @Test("a message may be compressed")
    func compressed() throws {
        let query =
            "message=\(Sent.deliveryGzip.replacing("+", with: "%2B"))&base64=1&compression=gzip"
        #expect(try self.message(query) == String(decoding: Sent.deliveryBytes, as: UTF8.self))
    }
}
