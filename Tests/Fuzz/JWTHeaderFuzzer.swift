// Fuzzes parsing of a token's header. An odd first byte means that the rest is the token's text, an
// even one its JSON, which random base64 would rarely give. An accepted header must mean the same
// to Foundation, so that no two readers of a token differ.

@testable internal import Credentials
internal import Foundation
internal import WireFormat

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzJWTHeader(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Bytes(start: data, count: count)
    guard let choice = input.first else { return 0 }
    // A copy of the exact size, so that AddressSanitizer detects reads beyond it.
    let bytes = [UInt8](input.dropFirst())
    let encoded: [UInt8]
    if choice & 1 == 1 {
        encoded = bytes
        if let decoded = Base64URL.decode(encoded) {
            let spelling = Base64URL.encode(decoded)
            require(spelling.utf8.elementsEqual(encoded), "a value with two spellings is taken")
        }
    } else {
        encoded = [UInt8](Base64URL.encode(bytes).utf8)
    }
    do throws(CredentialRefusal) {
        check(try JWTHeader(encoded: encoded), of: encoded)
    } catch {
        require(
            error == (encoded.count > JWTHeader.maxBytes ? .tooLong : .header),
            "\(encoded.count) bytes are refused as \(error)")
    }
    return 0
}

/// Compares an accepted header with Foundation's reading of it.
private func check(_ header: JWTHeader, of encoded: [UInt8]) {
    require(encoded.count <= JWTHeader.maxBytes, "a header of \(encoded.count) bytes is taken")
    // Foundation decodes base64 with `+`, `/` and padding only.
    var text = Data(encoded.map { $0 == 0x2d ? 0x2b : $0 == 0x5f ? 0x2f : $0 })
    text += Data(repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
    guard let json = Data(base64Encoded: text) else { fatalError("no base 64 to Foundation") }
    // nil: refused by Foundation.
    guard let members = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else {
        fatalError("no JSON object to Foundation: \(String(decoding: json, as: UTF8.self))")
    }
    require(members["alg"] as? String == header.algorithm, "another alg")
    require(members["kid"] as? String == header.keyID, "another kid")
    require((members["kid"] != nil) == (header.keyID != nil), "a kid that is no string is left out")
    require((header.keyID?.utf8.count ?? 0) <= JWTHeader.maxKeyIDBytes, "the kid is over its limit")
    for name in ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "cty"] {
        require(members[name] == nil, "a header with \(name) is taken")
    }
}
