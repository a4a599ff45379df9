import COpenSSL

/// Certificates in the PEM format (RFC 7468).
package enum CertificateText {
    /// Returns the number of certificates; `nil` if one of them cannot be read, or the text contains anything else but comments.
    package static func count(in pem: String) -> Int? {
        let bytes = Array(pem.utf8)
        guard let input = BIO_new_mem_buf(bytes, Int32(bytes.count)) else { return nil }
        defer {
            BIO_free(input)
            ERR_clear_error()
        }
        var count = 0
        while let certificate = PEM_read_bio_X509(input, nil, nil, nil) {
            X509_free(certificate)
            count += 1
        }
        let isEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        let begins = pem.ranges(of: "-----BEGIN ").count
        return isEnd && begins == count ? count : nil
    }
}
