internal import CLibcrypto
package import WireFormat

/// Hashes subjects with a secret key: the first 16 bytes of HMAC-SHA-256 (RFC 2104). Without the
/// key nobody can test which id a hash belongs to.
package struct KeyedHash: Sendable {
    /// A hash: 16 bytes.
    package struct Value: Sendable, Hashable {
        private let high: UInt64
        private let low: UInt64

        /// Creates a hash from its bytes; nil unless there are 16.
        package init?(_ bytes: some Collection<UInt8>) {
            guard bytes.count == 16 else { return nil }
            self.init(first16: bytes)
        }

        fileprivate init(first16 bytes: some Collection<UInt8>) {
            func number(_ part: some Collection<UInt8>) -> UInt64 {
                part.reduce(0) { $0 << 8 | UInt64($1) }
            }
            self.high = number(bytes.prefix(8))
            self.low = number(bytes.dropFirst(8).prefix(8))
        }

        /// The bytes.
        package var bytes: [UInt8] {
            [self.high, self.low].flatMap { number in
                stride(from: UInt64(56), through: 0, by: -8).map {
                    UInt8(truncatingIfNeeded: number >> $0)
                }
            }
        }

        /// The hash as 32 hexadecimal digits.
        package var text: [UInt8] {
            self.bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
        }

        private static let digits = [UInt8]("0123456789abcdef".utf8)
    }

    /// The fewest bytes of a key: as many as a hash has.
    package static let minKeyBytes = 16
    private static let blockBytes = 64

    /// SHA-256 after the first block of each pass, which depends on the key alone.
    private let inner: SHA256_CTX
    private let outer: SHA256_CTX

    /// Creates hashes with a key of any length.
    package init(key: [UInt8]) {
        var block = key
        if block.count > Self.blockBytes {
            block = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { code, count in
                var context = SHA256_CTX(block: key)
                SHA256_Final(code.baseAddress, &context)
                count = code.count
            }
        }
        block += [UInt8](repeating: 0, count: Self.blockBytes - block.count)
        self.inner = SHA256_CTX(block: block.map { $0 ^ 0x36 })
        self.outer = SHA256_CTX(block: block.map { $0 ^ 0x5c })
    }

    /// The full 32 bytes of a message's HMAC.
    func code(of message: Bytes) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { code, count in
            var inner = self.inner
            inner.update(message)
            self.finish(&inner, code.baseAddress)
            count = code.count
        }
    }

    /// The hash of a tenant's subject. The tenant is preceded by its length (4 bytes, big-endian).
    /// Allocates nothing: once a subject was erased, each hit is hashed for each sink.
    package func callAsFunction(tenant: Bytes, subject: Bytes) -> Value {
        var inner = self.inner
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: tenant.count).bigEndian) { inner.update($0) }
        inner.update(tenant)
        inner.update(subject)
        return withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: Int(SHA256_DIGEST_LENGTH)
        ) { code in
            self.finish(&inner, code.baseAddress)
            return Value(first16: code)
        }
    }

    /// Hashes the inner pass's result once more, in place in `code`.
    private func finish(_ inner: inout SHA256_CTX, _ code: UnsafeMutablePointer<UInt8>?) {
        SHA256_Final(code, &inner)
        var outer = self.outer
        SHA256_Update(&outer, code, Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(code, &outer)
    }
}

extension SHA256_CTX {
    fileprivate init(block: [UInt8]) {
        self.init()
        SHA256_Init(&self)
        SHA256_Update(&self, block, block.count)
    }

    fileprivate mutating func update(_ bytes: Bytes) {
        SHA256_Update(&self, bytes.baseAddress, bytes.count)
    }
}
