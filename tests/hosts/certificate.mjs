/** A certificate for localhost that signed itself, with its key: it guards nothing and is trusted by no one. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKnyXGQU28sUa6Cx
0jX3M2l2IYGGv6b4vvBzYF/qi+di/1xvXVva+mU47rd6oRYxShKpBrdY2tZOoMhZ
Ya74wDmjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBTHga/w9+examUSxOEq1wYM4xIpjzAKBggqhkjOPQQD
AgNIADBFAiBaUMKg3tljIcv1hPLq8ytM3VvS/oegb6Wt46Xr/wMyDgIhAPaA8iqw
or7V1OqitzBwwGBfeInziifnF84u7tHFJD3m
-----END CERTIFICATE-----
`;

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0WXxdvlxX+QjDUCp
zwq6zfzkv0MFjJ2eBDbgrLCvaruhRANCAASp8lxkFNvLFGugsdI19zNpdiGBhr+m
+L7wc2Bf6ovnYv9cb11b2vplOO63eqEWMUoSqQa3WNrWTqDIWWGu+MA5
-----END PRIVATE KEY-----
`;
