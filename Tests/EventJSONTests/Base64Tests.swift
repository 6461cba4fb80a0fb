// Base64 as clients send it: two alphabets, with padding and without, in chunks.
internal import Testing
internal import WireFormat

struct Base64Tests {
    @Test("bytes come back, whatever their number, in both forms")
    func thereAndBack() {
        for count in 0...66 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 251) }
            for isPadded in [true, false] {
                let text = Base64.encode(bytes, isPadded: isPadded)
                #expect(Base64.decode(text) == bytes)
                #expect(!isPadded || text.count % 4 == 0)
                #expect(isPadded || !text.contains(UInt8(ascii: "=")))
            }
        }
    }

    @Test(
        "RFC 4648's examples",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func examples(_ text: String, _ encoded: String) {
        #expect(Base64.encode(text.utf8, isPadded: true).elementsEqual(encoded.utf8))
        #expect(Base64.decode(encoded.utf8).map { $0.elementsEqual(text.utf8) } == true)
    }

    @Test("the last two digits are the standard's and the URL's")
    func alphabets() {
        #expect(Base64.decode("+/+/".utf8) == Base64.decode("-_-_".utf8))
        #expect(Base64.encode([0xfb, 0xff, 0xbf], isPadded: true).elementsEqual("+/+/".utf8))
    }

    @Test(
        "foreign characters, and padding or an end where none can be, are refused",
        arguments: [
            "A", "AAAAA", "=", "A=", "A===", "AA=", "AA===", "AAA==", "AAAA=", "AA=A", "A A=",
            "AA\n=", "AA*=", "AA==AA==", "AAA=A", "A\u{e9}A=",
        ])
    func refused(_ text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test("in chunks each may end with padding, and an unfinished one is refused")
    func chunks() {
        #expect(Base64.decode("Zg==Zm8=Zm9v".utf8, isChunked: true) == Array("ffofoo".utf8))
        #expect(Base64.decode("Zg==Zm8=Zm9".utf8, isChunked: true) == Array("ffofo".utf8))
        for text in ["Zg=Zg==", "Zg==Z", "Zg===Zg=", "Zg==="] {
            #expect(Base64.decode(text.utf8, isChunked: true) == nil, "\(text)")
        }
    }
}
