// Without TLS, a server is reachable from its own machine only, unless this is allowed explicitly.
internal import ServerConfiguration
internal import Testing

struct ExposureTests {
    @Test(
        "an address of this machine alone needs nothing",
        arguments: [
            "127.0.0.1:1", "127.0.0.1:0", "127.255.255.254:1", "[::1]:1", "[::ffff:127.0.0.1]:1",
        ])
    func loopback(_ listen: String) async throws {
        #expect(try await Configurations.problems(flags: ["listen": listen]) == [])
    }

    @Test(
        "an address that others can reach needs TLS, or a word that it does not",
        arguments: [
            "0.0.0.0:1", "10.0.0.1:1", "128.0.0.1:1", "126.255.255.255:0", "[::]:1", "[::2]:1",
            "[fe80::1]:1", "[::ffff:10.0.0.1]:1", "[1::1]:1",
        ])
    func network(_ listen: String) async throws {
        let problems = try await Configurations.problems(flags: ["listen": listen])
        #expect(problems.count == 1)
        #expect(problems.first?.contains("listen is \"\(listen)\", but without TLS") == true)
        #expect(problems.first?.contains("--allow-insecure") == true)
        let tls = try await Configurations.problems(flags: ["listen": listen, "tls.mode": "tls"])
        #expect(tls.count == 1)
        #expect(tls.first?.contains("but without credentials") == true)
        let mtls = ["listen": listen, "tls.mode": "mtls"]
        #expect(try await Configurations.problems(flags: mtls) == [])
        let allowed = ["listen": listen, "allow_insecure": "true"]
        #expect(try await Configurations.problems(flags: allowed) == [])
    }

    @Test(
        "the live page sends test events in development alone, between loopback addresses",
        arguments: [
            (["http.listen": "127.0.0.1:8080"], true),
            (["http.listen": "127.0.0.1:0", "admin.listen": "[::1]:0"], true),
            (["http.listen": "off"], false),
            (["http.listen": "[::1]:8080"], false),
            (["http.listen": "[::ffff:127.0.0.1]:8080"], false),
            (["http.listen": "127.0.0.1:8080", "admin.listen": "off"], false),
            (["http.listen": "0.0.0.0:8080", "allow_insecure": "true"], false),
            (
                [
                    "http.listen": "127.0.0.1:8080", "admin.listen": "0.0.0.0:9464",
                    "admin.allow_insecure": "true",
                ], false
            ),
        ])
    func testEvents(_ flags: [String: String], _ sends: Bool) async throws {
        var configuration = try await Configurations.read(flags: flags)
        #expect(!configuration.pageSendsTestEvents)
        configuration.isDevelopment = true
        #expect(configuration.pageSendsTestEvents == sends)
    }

    @Test("the HTTP port is held to the same, by its own name")
    func http() async throws {
        #expect(try await Configurations.problems(flags: ["http.listen": "127.0.0.1:1"]) == [])
        #expect(try await Configurations.problems(flags: ["http.listen": "off"]) == [])
        let open = ["http.listen": "0.0.0.0:1"]
        let problems = try await Configurations.problems(flags: open)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("http.listen is \"0.0.0.0:1\", but without TLS") == true)
        let allowed = open.merging(["allow_insecure": "true"]) { $1 }
        #expect(try await Configurations.problems(flags: allowed) == [])
        let mtls = open.merging(["tls.mode": "mtls"]) { $1 }
        #expect(try await Configurations.problems(flags: mtls) == [])
    }
}
