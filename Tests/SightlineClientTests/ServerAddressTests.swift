// Addresses as people write them.
internal import SightlineClient
internal import Testing

struct ServerAddressTests {
    @Test(
        "good addresses",
        arguments: [
            ("127.0.0.1:50051", "127.0.0.1", 50051), ("localhost:1", "localhost", 1),
            ("[::1]:65535", "::1", 65535),
        ])
    func good(text: String, host: String, port: Int) throws {
        let address = try ServerAddress(text)
        #expect(address.host == host && address.port == port)
        #expect(address.description == text)
    }

    @Test(
        "bad addresses say how a good one looks",
        arguments: [
            "", "host", "host:", ":1", "host:0", "host:65536", "::1:80", "[]:1", "a:b",
            "https://host:443", "user@host:443",
        ])
    func bad(text: String) {
        #expect(throws: SightlineClientError.badAddress(text)) { try ServerAddress(text) }
    }

    @Test(
        "a password in an address is not told",
        arguments: [
            "user:secret@host:443", "secret@host:443", "https://user:secret@host:443",
            "user:se:secret/@host",
        ])
    func password(text: String) {
        let error = #expect(throws: SightlineClientError.self) { try ServerAddress(text) }
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("•••@host") == true)
    }
}
