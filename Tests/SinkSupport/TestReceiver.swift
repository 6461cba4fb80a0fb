// A receiver of webhooks on loopback, which answers as a test has written down.
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Takes requests over HTTP/1.1, keeps them, and answers each as its script says; 204 after the
/// script's end. Each connection has a thread, for a script may let one wait.
package final class TestReceiver: Sendable {
    /// What is done with a request.
    package enum Reply: Sendable {
        case answer(Int, headers: [String: String] = [:], body: String = "")
        /// The connection is closed without an answer.
        case close
        /// No answer, until the client closes.
        case stall
        /// The head of an answer, and nothing of its body until the client closes.
        case head
        /// The head of an answer, and then a byte of its body each 20 ms without an end.
        case drip
        /// What the test makes of the request's body.
        case of(@Sendable ([UInt8]) -> Reply)
    }

    /// A request that came.
    package struct Request: Sendable {
        package let line: String
        /// By names in lower case.
        package let headers: [String: String]
        package let body: [UInt8]
        package let connection: Int
    }

    private struct State {
        var script: [Reply]
        var requests: [Request] = []
        /// Those that are open: the system gives the number of a closed one to another test.
        var connections: Set<Int32> = []
        var connectionCount = 0
    }

    private let listener: Int32
    package let port: UInt16
    private let state: Mutex<State>

    package init(_ script: [Reply] = []) throws {
        self.state = Mutex(State(script: script))
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        self.listener = listener
        self.port = UInt16(bigEndian: address.sin_port)
        Thread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let self else { return }
                let number = self.state.withLock { state in
                    state.connections.insert(connection)
                    state.connectionCount += 1
                    return state.connectionCount
                }
                Thread { self.serve(connection, number) }.start()
            }
        }.start()
    }

    deinit { self.stop() }

    /// Takes no more connections, and cuts those that are open.
    package func stop() {
        shutdown(self.listener, Int32(SHUT_RDWR))
        self.state.withLock { state in
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    package var requests: [Request] { self.state.withLock(\.requests) }
    package var connectionCount: Int { self.state.withLock(\.connectionCount) }

    /// Goes on with another script.
    package func answer(_ script: [Reply]) { self.state.withLock { $0.script = script } }

    private func serve(_ connection: Int32, _ number: Int) {
        defer {
            self.state.withLock { state in
                state.connections.remove(connection)
                close(connection)
            }
        }
        var buffer: [UInt8] = []
        while let request = Self.read(from: connection, &buffer, number) {
            var reply = self.state.withLock { state in
                state.requests.append(request)
                return state.script.isEmpty ? .answer(204) : state.script.removeFirst()
            }
            while case .of(let make) = reply { reply = make(request.body) }
            guard Self.write(reply, to: connection) else { return }
        }
    }

    private static func read(
        from connection: Int32, _ buffer: inout [UInt8], _ number: Int
    ) -> Request? {
        var head: (lines: [String], end: Int)?
        while true {
            if head == nil, let end = buffer.firstRange(of: [13, 10, 13, 10]) {
                let text = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                head = (text.components(separatedBy: "\r\n"), end.upperBound)
            }
            if let head {
                let pairs = head.lines.dropFirst().compactMap { line in
                    line.firstIndex(of: ":").map { colon in
                        (
                            line[..<colon].lowercased(),
                            line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                        )
                    }
                }
                let headers = Dictionary(pairs) { first, _ in first }
                let end = head.end + (Int(headers["content-length"] ?? "0") ?? 0)
                if buffer.count >= end {
                    defer { buffer.removeFirst(end) }
                    return Request(
                        line: head.lines[0], headers: headers,
                        body: [UInt8](buffer[head.end..<end]), connection: number)
                }
            }
            var part = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(connection, &part, part.count, 0)
            guard count > 0 else { return nil }
            buffer += part[..<count]
        }
    }

    /// Returns whether the connection stays open.
    private static func write(_ reply: Reply, to connection: Int32) -> Bool {
        switch reply {
        case .answer(let status, let headers, let body):
            let length = status == 204 ? "" : "content-length: \(body.utf8.count)\r\n"
            let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
            return Self.send(
                "HTTP/1.1 \(status) Status\r\n\(length)\(lines)\r\n\(body)", connection)
        case .close, .of: return false
        case .stall: return Self.isSpokenTo(connection)
        case .head:
            return Self.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n", connection)
                && Self.isSpokenTo(connection)
        case .drip:
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n"
            var isOpen = Self.send(head + "content-type: application/json\r\n\r\n", connection)
            // Ends once the client closes the connection; until then a byte goes out now and then.
            var client = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            while isOpen, poll(&client, 1, 20) == 0 {
                isOpen = Self.send(" ", connection)
            }
            return false
        }
    }

    /// Waits for a byte; false if the client closes instead.
    private static func isSpokenTo(_ connection: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(connection, &byte, 1, 0) > 0
    }

    private static func send(_ text: String, _ connection: Int32) -> Bool {
        let bytes = [UInt8](text.utf8)
        return Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            == bytes.count
    }
}
